/// @file
/// Uniformity: finds the values and the parts of a function that are the same for all threads. Used by the rewriter.
///
/// A dataflow analysis of the AST, after "Coalescing Memory Allocations for GPU MPI" (Blach, Erhart, Memedi, Schäfer),
/// section 3.1, which does not specify what its patterns match. Here, a local variable is uniform if all values that
/// are assigned to it are uniform, and if all threads together decide whether each assignment happens. All other values
/// count as different: values in memory, results of functions that the analysis does not see, and variables whose
/// addresses are known elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/AST/StmtCXX.h>

namespace dynasoar::coalesce {

/// The parameters of the function that must be uniform, so that a value is uniform or all threads execute a statement
/// together. Or the information that it may differ in any case.
struct Needs {
  static constexpr std::uint64_t kDiffers = std::uint64_t{1} << 63;

  std::uint64_t mask = 0;              ///< bit i: parameter i; or kDiffers
  const clang::Stmt* cause = nullptr;  ///< the first expression that differs

  static Needs differ(const clang::Stmt* cause) { return {kDiffers, cause}; }
  static Needs parameter(unsigned index) { return index < 63 ? Needs{std::uint64_t{1} << index} : differ(nullptr); }

  bool differs() const { return (mask & kDiffers) != 0; }

  /// @return whether it needs more than before
  bool add(const Needs& other) {
    if (!differs() && other.differs()) cause = other.cause;
    const std::uint64_t before = mask;
    mask |= other.mask;
    return mask != before;
  }
  friend Needs operator|(Needs a, const Needs& b) {
    a.add(b);
    return a;
  }
};

/// The role of a call, by the name of the function.
enum class Role { other, malloc, free, takes_argument, uniform };

/// A call that matters to the rewriter.
struct Call {
  const clang::CallExpr* call;
  Role role;                          ///< other: the rewriter does not know the name
  const clang::FunctionDecl* callee;  ///< its definition, if there is one and it is a function of the program
  Needs control;                      ///< for all threads to make the call together
  std::vector<Needs> arguments;       ///< for each argument to be uniform
};

/// The information about a function for its callers.
struct Summary {
  Needs returns;  ///< for its result to be uniform
  Needs ends;     ///< if some threads exit in it and do not return: what decides this
  bool may_end = false;
  std::vector<Call> calls;

  /// Adds the results of another pass. @return whether there was something new
  bool update(const Summary& found) {
    const bool more = returns.add(found.returns) | ends.add(found.ends) | (found.may_end && !may_end);
    may_end |= found.may_end;
    calls = found.calls;
    return more;
  }
};

/// The information about the rest of the program for an analysis.
struct Program {
  std::function<Role(const clang::FunctionDecl*)> role;
  std::function<const Summary&(const clang::FunctionDecl*)> summary;  ///< of a definition
  std::function<bool(const clang::VarDecl*)> is_uniform_global;
  Needs destructors;  ///< if destructors may end threads, which can happen at the end of any scope
  Needs indirect;     ///< if functions that are called indirectly may end threads: what decides that
};

/// The analysis of one function definition.
class FunctionAnalysis {
 public:
  FunctionAnalysis(const clang::ASTContext& context, const Program& program, const clang::FunctionDecl* function);

  /// Analyses the function repeatedly until nothing changes.
  Summary run();

 private:
  struct Target {
    const clang::Stmt* statement;  // a loop or switch
    bool is_loop;
  };

  void visit(const clang::Stmt* statement);
  void visit_under(const clang::Stmt* statement, const Needs& more);
  void visit_loop(const clang::Stmt* loop, const clang::Expr* condition, const clang::Stmt* body,
                  const clang::Expr* increment, Needs more);
  void visit_switch(const clang::SwitchStmt* statement);
  void visit_declaration(const clang::Decl* declaration);
  void visit_children(const clang::Stmt* statement);
  void jump(bool needs_loop);
  void leave(const Needs& why);
  void end(const Needs& why);

  Needs evaluate(const clang::Expr* expression);
  Needs evaluate_under(const clang::Expr* expression, const Needs& more);
  Needs evaluate_children(const clang::Expr* expression);
  Needs evaluate_choice(const clang::ConditionalOperator* choice, bool reads);
  Needs evaluate_unary(const clang::UnaryOperator* expression);
  Needs evaluate_binary(const clang::BinaryOperator* expression);
  Needs evaluate_call(const clang::CallExpr* call);
  Needs evaluate_argument(const clang::Expr* argument, clang::QualType parameter, bool of_uniform);
  Needs evaluate_construction(const clang::CXXConstructExpr* expression);
  Needs evaluate_lambda(const clang::LambdaExpr* expression);
  Needs read(const clang::Expr* place);
  Needs assign(const clang::Expr* place, Needs value);
  Needs substitute(const Needs& needs, const std::vector<Needs>& arguments, const clang::Stmt* cause) const;
  void escape(const clang::Stmt* expression);
  void note(const clang::VarDecl* variable, const Needs& value);
  const clang::VarDecl* local(const clang::Expr* place) const;
  bool is_constant(const clang::Expr* expression) const;
  bool is_same_for_all(const clang::DeclRefExpr* name) const;
  Needs control() const { return control_ | gone_ | whole_; }

  const clang::ASTContext& context_;
  const Program& program_;
  const clang::FunctionDecl* function_;
  std::map<const clang::VarDecl*, Needs> values_;
  std::map<const clang::Stmt*, Needs> jumps_;  // of loops and switches: what decides whether threads jump out or on
  std::vector<Target> targets_;                // that enclose the current statement
  Needs control_;                              // of the current statement
  Needs gone_;                                 // what decides whether threads have left the function
  Needs whole_;                                // of all statements, if there is one that the analysis does not follow
  Summary found_;
  bool changed_ = false;
};

}  // namespace dynasoar::coalesce
