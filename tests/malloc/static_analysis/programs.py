"""Small programs for GPU MPI, and what dynasoar-coalesce has to make of them.

A line's comment says what the report has to say about it: `collective`, `alone` and a part of the reason, or `argument`
of a function that gets the optional argument. The report must say nothing about other lines. The number is how often
all ranks allocate together when the rewritten program runs. `main` stands for `int main(int argc, char** argv)`; argc
is 1.
"""

PROGRAMS = {}  # name: (source, how often)
REFUSED = {}  # name: (source, a part of the reason)


def add(name, times, source):
    PROGRAMS[name] = (source, times)


add("all threads allocate", 2, """
int main(int argc, char** argv) {
  int* p = (int*)malloc(sizeof(int));  // collective
  int* q = static_cast<int*>(std::malloc(40 * sizeof(int)));  // collective
  *p = threadIdx.x;
  for (int i = 0; i < 40; ++i) q[i] = *p + i;
  std::printf("%d %d\\n", *p, q[39]);
  free(p);
  std::free(q);
  return 0;
}""")

add("some threads allocate", 1, """
int main(int argc, char** argv) {
  int* p = nullptr;
  if (threadIdx.x < 4) {
    p = (int*)malloc(4);  // alone: 'threadIdx.x' in line 5
  }
  int* q = (int*)malloc(4);  // collective
  if (threadIdx.x < 4) *p = 3;
  *q = 7;
  std::printf("%d %d\\n", threadIdx.x, threadIdx.x < 4 ? *p + *q : *q);
  free(p);
  free(q);
  return 0;
}""")

add("threads allocate in one branch or the other", 0, """
int main(int argc, char** argv) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* p;
  if (rank % 2 == 0) {
    p = (int*)malloc(4);  // alone: 'rank' in line 5
  } else {
    p = (int*)malloc(4);  // alone: 'rank' in line 5
  }
  *p = rank;
  std::printf("%d\\n", *p);
  free(p);
  return 0;
}""")

add("all threads take one branch", 1, """
int main(int argc, char** argv) {
  int* p = nullptr;
  if (argc > 1) {
    p = (int*)malloc(4);  // collective
  } else {
    p = (int*)malloc(8);  // collective
  }
  *p = threadIdx.x;
  std::printf("%d\\n", *p);
  free(p);
  return 0;
}""")

add("sizes differ", 0, """
int main(int argc, char** argv) {
  const int count = threadIdx.x + 1;
  int bytes = 4;
  if (threadIdx.x > 2) bytes = 8;
  char* p = (char*)malloc(count);  // alone: the size may differ between threads: 'threadIdx.x' in line 4
  char* q = (char*)malloc(bytes);  // alone: the size may differ
  char* r = (char*)malloc(next_ticket() + 1);  // alone: 'next_ticket()' in line 9
  p[count - 1] = 1, q[bytes - 1] = 2, r[0] = 3;
  std::printf("%d %d\\n", threadIdx.x, p[count - 1] + q[bytes - 1] + r[0]);
  free(p);
  free(q);
  free(r);
  return 0;
}""")

add("computed sizes are the same", 3, """
constexpr int kCount = 5;
const int count_of_all = 6;
int main(int argc, char** argv) {
  int a = argc + 3, b = 0;
  b += a * kCount;
  a = -b > 0 ? kCount : count_of_all;
  char* p = (char*)malloc(a + b);  // collective
  char* q = (char*)malloc(std::max<std::size_t>(a, 3));  // collective
  char* r = (char*)malloc(kCount << 2);  // collective
  p[a + b - 1] = 1, q[a - 1] = 2, r[19] = 3;
  std::printf("%d %d\\n", threadIdx.x, p[a + b - 1] + q[a - 1] + r[19]);
  free(p);
  free(q);
  free(r);
  return 0;
}""")

add("loops of the same length", 12, """
int main(int argc, char** argv) {
  int sum = 0;
  for (int i = 1; i < 5; ++i) {
    char* p = (char*)malloc(i);  // collective
    p[i - 1] = (char)(threadIdx.x + i);
    sum += p[i - 1];
    free(p);
  }
  int n = 4;
  while (n > 0) {
    free(malloc(8));  // collective
    --n;
  }
  do {
    free(malloc(8));  // collective
    ++n;
  } while (n < 4);
  std::printf("%d %d\\n", threadIdx.x, sum);
  return 0;
}""")

add("loops of different length", 1, """
int main(int argc, char** argv) {
  int last = 0;
  for (int i = 0; i < threadIdx.x; ++i) {
    free(malloc(8));  // alone: 'threadIdx.x' in line 5
    last = 3;
  }
  free(malloc(8));  // collective
  free(malloc(8 + last));  // alone: the size may differ
  std::printf("%d %d\\n", threadIdx.x, last);
  return 0;
}""")

add("some threads leave a loop", 5, """
int main(int argc, char** argv) {
  int rounds = 0;
  for (int i = 0; i < 6; ++i) {
    ++rounds;
    free(malloc(16));  // alone: 'threadIdx.x' in line 8
    if (threadIdx.x == i) break;
  }
  for (int i = 0; i < 6; ++i) {
    if (i == 4) break;
    free(malloc(16));  // collective
  }
  free(malloc(16));  // collective
  free(malloc(rounds));  // alone: the size may differ
  std::printf("%d %d\\n", threadIdx.x, rounds);
  return 0;
}""")

add("some threads begin the next round of a loop", 7, """
int main(int argc, char** argv) {
  for (int i = 0; i < 3; ++i) {
    free(malloc(16));  // alone: 'threadIdx.x' in line 6
    if (threadIdx.x == i) continue;
    free(malloc(16));  // alone: 'threadIdx.x' in line 6
  }
  for (int i = 0; i < 3; ++i) {
    free(malloc(16));  // collective
    if (i == 1) continue;
    free(malloc(16));  // collective
    if (threadIdx.x == i) std::printf("%d\\n", i);
  }
  int n = 0;
  while (true) {
    if (++n == 3) break;
    free(malloc(24));  // collective
  }
  return 0;
}""")

add("some threads return early", 1, """
int main(int argc, char** argv) {
  int* p = (int*)malloc(4);  // collective
  *p = threadIdx.x;
  if (*p == 3) {
    free(p);
    return 0;
  }
  int* q = (int*)malloc(4);  // alone: '*p' in line 6
  *q = *p;
  std::printf("%d\\n", *q);
  free(q);
  free(p);
  return 0;
}""")

add("all threads return early", 1, """
int main(int argc, char** argv) {
  if (argc > 5) return 1;
  free(malloc(4));  // collective
  if (argc == 1) return 0;
  free(malloc(4));  // collective
  return 0;
}""")

add("some threads return out of a loop", 1, """
int main(int argc, char** argv) {
  free(malloc(4));  // collective
  for (int i = 0; i < 5; ++i) {
    free(malloc(4));  // alone: 'threadIdx.x' in line 7
    if (threadIdx.x == i) return 0;
  }
  free(malloc(4));  // alone: 'threadIdx.x' in line 7
  return 0;
}""")

add("some threads might exit", 1, """
void check(int value) {
  if (value > 100) std::exit(3);
}
int main(int argc, char** argv) {
  check(argc);
  free(malloc(4));  // collective
  check(threadIdx.x);
  free(malloc(4));  // alone: 'threadIdx.x' in line 9
  return 0;
}""")

add("the paper's listing", 3, """
void f() {  // argument
  void* ptr = malloc(sizeof(int));  // collective
  free(ptr);
}
int main(int argc, char** argv) {
  int* ptr = (int*)malloc(8 * sizeof(int));  // collective
  f();  // collective
  for (int i = 0; i < 8; ++i) ptr[i] = 10 * threadIdx.x + i;
  int received[8];
  MPI_Alltoall(ptr, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);  // collective
  std::printf("%d %d\\n", threadIdx.x, received[7]);
  free(ptr);
  if (threadIdx.x < 4) {
    void* ptr2 = malloc(sizeof(int));  // alone: 'threadIdx.x' in line 15
    f();  // alone: 'threadIdx.x' in line 15
    free(ptr2);
  }
  return 0;
}""")

add("functions whose parameters are sizes", 2, """
static char* make(int count, int rank);  // argument
static char* make(int count, int rank) {
  char* p = (char*)malloc(count * 2);  // collective
  p[count] = (char)rank;
  return p;
}
char* make_twice(int rank, int count) {  // argument
  free(make(count, rank));  // collective
  return make(3, rank);  // collective
}
int main(int argc, char** argv) {
  char* p = make_twice(threadIdx.x, 4);  // collective
  char* q = make(threadIdx.x + 1, 5);  // alone: 'threadIdx.x' in line 15
  std::printf("%d %d\\n", p[3], q[threadIdx.x + 1]);
  free(p);
  free(q);
  return 0;
}""")

add("functions from which some threads return early", 4, """
void work(int size, int rank) {  // argument
  if (size < 10) return;
  free(malloc(16));  // collective
  if (rank < 3) return;
  free(malloc(16));  // collective
}
void escaped(int rank) {
  if (*&rank < 3) return;
  free(malloc(16));  // alone: '*&rank' in line 10
}
int main(int argc, char** argv) {
  work(20, argc + 20);  // collective
  work(20, argc);  // collective
  work(20, threadIdx.x);  // alone: 'threadIdx.x' in line 16
  escaped(argc);
  free(malloc(8));  // collective
  return 0;
}""")

add("results of functions", 2, """
int twice(int value) { return 2 * value; }
int pick(int value) {
  if (value > 3) return 8;
  return 16;
}
int main(int argc, char** argv) {
  free(malloc(twice(argc)));  // collective
  free(malloc(pick(argc)));  // collective
  free(malloc(twice(threadIdx.x) + 1));  // alone: 'threadIdx.x' in line 11
  free(malloc(pick(threadIdx.x)));  // alone: 'threadIdx.x' in line 12
  std::printf("%d\\n", twice(threadIdx.x));
  return 0;
}""")

add("recursion of the same depth", 7, """
int odd(int depth);  // argument
int even(int depth) {  // argument
  free(malloc(depth + 1));  // collective
  return depth == 0 ? 1 : odd(depth - 1);  // collective
}
int odd(int depth) {
  return depth == 0 ? 0 : even(depth - 1);  // collective
}
int sum(int n) {  // argument
  if (n == 0) return 0;
  int* p = (int*)malloc(sizeof(int) * n);  // collective
  p[n - 1] = n;
  const int result = p[n - 1] + sum(n - 1);  // collective
  free(p);
  return result;
}
int main(int argc, char** argv) {
  std::printf("%d %d\\n", threadIdx.x, sum(4) + even(4));  // collective
  return 0;
}""")

add("recursion of different depth", 0, """
int sum(int n) {  // argument
  if (n == 0) return 0;
  int* p = (int*)malloc(sizeof(int) * n);  // collective
  p[n - 1] = n;
  const int result = p[n - 1] + sum(n - 1);  // collective
  free(p);
  return result;
}
int down(int n) {
  if (n + threadIdx.x < 6) return 0;
  free(malloc(4));  // alone: 'threadIdx.x' in line 12
  return 1 + down(n - 1);
}
int main(int argc, char** argv) {
  std::printf("%d %d\\n", threadIdx.x, sum(threadIdx.x) + down(5));  // alone: 'threadIdx.x' in line 17
  return 0;
}""")

add("functions that are called through pointers", 1, """
void f() {
  free(malloc(4));  // alone: its function is called through pointers
}
void g() {  // argument
  free(malloc(4));  // collective
}
int main(int argc, char** argv) {
  void (*pointer)() = argc > 4 ? nullptr : f;
  pointer();
  f();
  g();  // collective
  return 0;
}""")

add("methods", 2, """
struct Base {
  virtual ~Base() = default;
  virtual void work() {
    free(malloc(4));  // alone: its function is virtual
  }
  void own(int n) {  // argument
    free(malloc(n));  // collective
  }
  void field() {
    free(malloc(size));  // alone: the size may differ
  }
  static void shared() {  // argument
    free(malloc(4));  // collective
  }
  int size = 4;
};
struct Buffer {
  Buffer() : data((char*)malloc(4)) {}  // alone: its function is a constructor or destructor
  ~Buffer() { free(data); }
  char* data;
};
int main(int argc, char** argv) {
  Base base;
  base.work();
  base.own(4);  // collective
  base.field();
  Base::shared();  // collective
  Buffer buffer;
  return 0;
}""")

add("instances of templates", 3, """
template <class T>
T* make(int n) {  // argument
  return static_cast<T*>(malloc(n * sizeof(T)));  // collective
}
template <bool kAll>
void some(int n) {
  if (kAll || threadIdx.x < 3) {
    free(malloc(8));  // alone: 'threadIdx.x' in line 9
  }
}
template <int kSize>
struct Fixed {
  void run() {  // argument
    free(malloc(kSize));  // collective
  }
};
int main(int argc, char** argv) {
  int* p = make<int>(3);  // collective
  double* q = make<double>(argc + 2);  // collective
  p[2] = threadIdx.x, q[2] = 2.5;
  std::printf("%g\\n", p[2] + q[2]);
  free(p);
  free(q);
  some<true>(1);
  some<false>(1);
  Fixed<12>().run();  // collective
  return 0;
}""")

add("specialized and overloaded functions", 0, """
template <class T>
void make() {
  free(malloc(sizeof(T)));  // alone: is specialized or instantiated explicitly
}
template <>
void make<char>() {
  free(malloc(17));  // alone: is specialized or instantiated explicitly
}
void over(int) {
  free(malloc(4));  // alone: has overloads
}
void over(int, bool) {
  free(malloc(4));  // alone: has overloads
}
void defaulted(int = 3) {
  free(malloc(4));  // alone: has default arguments
}
extern "C" void linked() {
  free(malloc(4));  // alone: has C linkage
}
template <class... Args>
void many(Args... args) {
  free(malloc(sizeof...(args)));  // alone: takes any number of arguments
}
class Friendly {
  friend void befriended();
};
void befriended() {
  free(malloc(4));  // alone: is declared as a friend
}
void named() {
  int coalesce = 4;
  free(malloc(coalesce));  // alone: uses the name 'coalesce'
}
int main(int argc, char** argv) {
  make<int>();
  make<char>();
  over(1);
  over(1, true);
  defaulted();
  linked();
  many(1, 2);
  befriended();
  named();
  return 0;
}""")

add("lambdas", 1, """
int main(int argc, char** argv) {
  int n = 4;
  const auto work = [&] {
    free(malloc(4));  // alone: its function is a lambda
    n = 4 + threadIdx.x;
  };
  free(malloc(16));  // collective
  work();
  free(malloc(n));  // alone: the size may differ
  return 0;
}""")

add("allocations in expressions", 2, """
int main(int argc, char** argv) {
  void* p = threadIdx.x < 2 ? malloc(4) : nullptr;  // alone: 'threadIdx.x' in line 4
  void* q = argc < 2 ? malloc(4) : nullptr;  // collective
  void* r = nullptr;
  threadIdx.x < 3 && (r = malloc(4));  // alone: 'threadIdx.x' in line 7
  void* s = nullptr;
  argc > 3 || (s = malloc(4));  // collective
  int size = 4;
  threadIdx.x < 3 || ++size;
  void* t = malloc(size);  // alone: the size may differ
  std::printf("%d %d%d%d%d\\n", threadIdx.x, p != nullptr, q != nullptr, r != nullptr, s != nullptr);
  free(p);
  free(q);
  free(r);
  free(s);
  free(t);
  return 0;
}""")

add("switches", 3, """
int main(int argc, char** argv) {
  switch (argc) {
    case 1:
      free(malloc(4));  // collective
      [[fallthrough]];
    case 2:
      free(malloc(4));  // collective
      break;
    default:
      free(malloc(4));  // collective
  }
  switch (threadIdx.x) {
    case 1:
      free(malloc(4));  // alone: 'threadIdx.x' in line 14
      break;
    default:
      free(malloc(4));  // alone: 'threadIdx.x' in line 14
  }
  switch (argc) {
    case 1:
      if (threadIdx.x == 2) break;
      free(malloc(4));  // alone: 'threadIdx.x' in line 23
  }
  free(malloc(4));  // collective
  return 0;
}""")

add("jumps", 0, """
int main(int argc, char** argv) {
  int n = 0;
again:
  free(malloc(8));  // alone: in line 5
  if (++n < 3 + threadIdx.x) goto again;
  std::printf("%d %d\\n", threadIdx.x, n);
  return 0;
}""")

add("variables whose address is known", 3, """
void set(int* n) { *n = 4 + threadIdx.x; }
void set_by_reference(int& n) { n = 4 + threadIdx.x; }
struct Shape {
  int rows, columns;
};
int main(int argc, char** argv) {
  int a = 4, b = 4, c = 4, d[2] = {4, 4}, e = 4;
  Shape same = {2, 3}, other = {2, 3}, copy = same;
  set(&a);
  set_by_reference(b);
  int& alias = c;
  alias += threadIdx.x;
  d[1] = threadIdx.x;
  other.rows = threadIdx.x + 1;
  (argc > 4 ? a : e) = 4 + threadIdx.x;
  free(malloc(a));  // alone: the size may differ
  free(malloc(b));  // alone: the size may differ
  free(malloc(c));  // alone: the size may differ
  free(malloc(d[0]));  // alone: the size may differ
  free(malloc(e));  // alone: the size may differ
  same.rows = 5;
  free(malloc(same.rows * same.columns));  // collective
  free(malloc(copy.columns));  // collective
  free(malloc(other.columns));  // alone: the size may differ
  free(malloc(sizeof(Shape)));  // collective
  return 0;
}""")

add("variables that all threads share", 0, """
int global = 4;
thread_local int own = 4;
int counted() {
  static int calls = 0;
  return calls;
}
int main(int argc, char** argv) {
  static int fixed = 4;
  volatile int changing = 4;
  free(malloc(global));  // alone: 'global' in line 12
  free(malloc(own));  // alone: 'own' in line 13
  free(malloc(counted() + 4));  // alone: 'counted()' in line 14
  free(malloc(fixed));  // alone: 'fixed' in line 15
  free(malloc(changing));  // alone: 'changing' in line 16
  free(malloc(argv[0][0]));  // alone: 'argv[0][0]' in line 17
  return 0;
}""")

add("library functions that the user registers", 4, """
int main(int argc, char** argv) {
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* p = (int*)malloc(ranks * sizeof(int));  // collective
  int* q = (int*)malloc(ranks * sizeof(int));  // collective
  for (int i = 0; i < ranks; ++i) p[i] = rank * i;
  MPI_Alltoall(p, 1, MPI_INT, q, 1, MPI_INT, MPI_COMM_WORLD);  // collective
  MPI_Alltoall(p, rank - rank + 1, MPI_INT, q, 1, MPI_INT, MPI_COMM_WORLD);  // alone: 'rank' in line 6
  if (threadIdx.x == -1) MPI_Alltoall(p, 1, MPI_INT, q, 1, MPI_INT, MPI_COMM_WORLD);  // alone: 'threadIdx.x' in line 12
  MPI_Alltoall(p, 1, MPI_INT, q, 1, MPI_INT, MPI_COMM_WORLD, false);  // alone: it must leave out the last, optional
  std::printf("%d %d\\n", rank, q[3]);
  free(q);
  free(p);
  free(malloc(std::min(ranks, 4)));  // collective
  return 0;
}""")

add("variables that loops of different length change", 1, """
int main(int argc, char** argv) {
  int size = 8, first = 8, n = 0;
  while (true) {
    ++n;
    first = 9;
    if (n > threadIdx.x) break;
    size = 16;
  }
  free(malloc(size));  // alone: the size may differ
  free(malloc(first));  // alone: the size may differ
  free(malloc(8));  // collective
  for (int x : {1, 2, 3}) {
    free(malloc(x));  // alone: not all threads
  }
  return 0;
}""")

add("exceptions", 1, """
void check(int value) {
  if (value > 100) throw value;
}
void guarded() {
  try {
    free(malloc(4));  // alone: in line 7
  } catch (int) {
  }
}
int main(int argc, char** argv) {
  free(malloc(4));  // collective
  guarded();
  check(threadIdx.x);
  free(malloc(4));  // alone: 'threadIdx.x' in line 15
  return 0;
}""")

add("destructors that might exit", 0, """
struct Guard {
  ~Guard() {
    if (threadIdx.x > 100) std::exit(3);
  }
};
int main(int argc, char** argv) {
  { Guard guard; }
  free(malloc(4));  // alone: not all threads
  return 0;
}""")

add("sizes by macros", 1, """
#define SIZE(n) ((n) * sizeof(int))
#define EMPTY()
int* make(void) {  // argument
  EMPTY()
  return (int*)malloc(SIZE(4));  // collective
}
int main(int argc, char** argv) {
  int* p = make();  // collective
  p[3] = threadIdx.x;
  std::printf("%d\\n", p[3]);
  free(p);
  return 0;
}""")

add("calls directly behind the brace of main", 2, """
int main(int argc, char** argv) {free(malloc(4));  // collective
  free(malloc(4));  // collective
  return 0;
}""")

add("variables that static variables know", 1, """
int main(int argc, char** argv) {
  int n = 4, counted = 4, unknown = 4;
  static int* const pointer = &n;
  static int& reference = n;
  static int once = counted++;
  static char* const shared = (char*)malloc(8);  // alone: not all threads may make the call together
  if (argc > 4) *pointer += reference + threadIdx.x;
  free(malloc(n));  // alone: the size may differ
  free(malloc(counted));  // alone: the size may differ
  free(malloc(unknown));  // collective
  std::printf("%d %d\\n", shared != nullptr, once);
  return 0;
}""")

add("arrays of variable length", 0, """
int main(int argc, char** argv) {
  int n = 4;
  char array[(n = 4 + threadIdx.x)];
  free(malloc(n));  // alone: it depends on what the analysis does not follow
  std::printf("%d\\n", n + (array[0] = 1));
  return 0;
}""")

add("the values of GNU's conditional operator", 1, """
int main(int argc, char** argv) {
  int n = 4;
  void* p = nullptr;
  threadIdx.x ?: (n = 8);
  (long)(threadIdx.x > 2) ?: (long)(p = malloc(8));  // alone: 'threadIdx.x' in line 7
  free(malloc(n));  // alone: the size may differ
  free(malloc(argc ?: 4));  // alone: the size may differ
  argc ?: (long)malloc(8);  // collective
  free(malloc(4));  // collective
  std::printf("%d\\n", n + (p != nullptr));
  free(p);
  return 0;
}""")

add("constants, and what they refer to", 2, """
int global = 4;
int& alias = global;
struct Constant {
  static int shared;
  mutable int changing;
  int& reference;
  int fixed;
};
int Constant::shared = 4;
constexpr Constant constant{4, global, 4};
struct Size {
  int bytes;
};
constexpr Size size{4};
int main(int argc, char** argv) {
  Size copy = size;
  free(malloc(alias));  // alone: 'alias' in line 19
  free(malloc(constant.shared));  // alone: 'constant.shared' in line 20
  free(malloc(constant.changing));  // alone: 'constant.changing' in line 21
  free(malloc(constant.reference));  // alone: 'constant.reference' in line 22
  free(malloc(size.bytes));  // collective
  free(malloc(copy.bytes));  // collective
  return 0;
}""")

add("calls in templates that mean different functions", 2, """
struct Allocating {
  void work(int n) {  // argument
    free(malloc(n));  // collective
  }
};
struct Idle {
  void work(int) {}
};
struct Virtual {
  virtual void work(int) {}
};
template <class T>
void run(T t) { t.work(4); }  // alone: in another instance
template <class T>
void run_virtual(T t) { t.work(4); }  // alone: in another instance
template <class T>
void run_all(T t) {  // argument
  t.work(4);  // collective
}
int main(int argc, char** argv) {
  run(Allocating());
  run(Idle());
  run_virtual(Allocating());
  run_virtual(Virtual());
  run_all(Allocating());  // collective
  Allocating().work(4);  // collective
  return 0;
}""")


def refuse(name, reason, source):
    REFUSED[name] = (source, reason)


refuse("memory of other functions", "'calloc' uses the C library's memory", """
int main(int argc, char** argv) {
  free(malloc(4));
  free(calloc(1, 4));
  return 0;
}""")

for function, call in (("__builtin_malloc", "free(__builtin_malloc(4))"), ("__builtin_free", "__builtin_free(malloc(4))"),
                       ("strdup", "free(strdup(argv[0]))")):
    refuse(f"memory of {function}", f"'{function}' uses the C library's memory", f"""
#include <cstring>
int main(int argc, char** argv) {{
  {call};
  return 0;
}}""")

refuse("the address of free", "the address of 'free' is taken", """
int main(int argc, char** argv) {
  void (*release)(void*) = free;
  release(malloc(4));
  return 0;
}""")

refuse("calls in macros", "'malloc' is called in a header, a macro", """
#define MAKE(n) malloc(n)
int main(int argc, char** argv) {
  free(MAKE(4));
  return 0;
}""")

refuse("calls outside of functions", "outside of functions", """
void* memory = malloc(4);
int main(int argc, char** argv) {
  free(memory);
  return 0;
}""")
