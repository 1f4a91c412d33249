// dynasoar-coalesce: rewrites allocations that all threads make together to collective ones; see
// docs/how-to/collective-allocations.md.
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Tooling/CommonOptionsParser.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>

#include "rewriter.h"

namespace {

namespace cl = llvm::cl;
using dynasoar::coalesce::Options;
using dynasoar::coalesce::Outcome;

cl::OptionCategory category("Options");
cl::opt<std::string> output("o", cl::desc("Where the rewritten file is stored; '-' prints it"), cl::value_desc("file"),
                            cl::init("-"), cl::cat(category));
cl::opt<bool> as_cuda("cuda", cl::desc("The file is CUDA C++: kernels and device functions are rewritten"),
                      cl::cat(category));
cl::list<std::string> takes_argument("takes-argument",
                                     cl::desc("A library function whose last, optional argument is 'coalesce'"),
                                     cl::value_desc("function"), cl::CommaSeparated, cl::cat(category));
cl::list<std::string> uniform("uniform", cl::CommaSeparated, cl::value_desc("function"),
                              cl::desc("A function without side effects whose result, and what it stores where its "
                                       "arguments point to, is the same in all threads if its other arguments are"),
                              cl::cat(category));

class Consumer : public clang::ASTConsumer {
 public:
  Consumer(const Options& options, Outcome& outcome) : options_(options), outcome_(outcome) {}
  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    outcome_ = dynasoar::coalesce::Rewriter(context, options_).run();
  }

 private:
  const Options& options_;
  Outcome& outcome_;
};

class Action : public clang::ASTFrontendAction {
 public:
  Action(const Options& options, Outcome& outcome) : options_(options), outcome_(outcome) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>(options_, outcome_);
  }

 private:
  const Options& options_;
  Outcome& outcome_;
};

class Factory : public clang::tooling::FrontendActionFactory {
 public:
  Factory(const Options& options, Outcome& outcome) : options_(options), outcome_(outcome) {}
  std::unique_ptr<clang::FrontendAction> create() override { return std::make_unique<Action>(options_, outcome_); }

 private:
  const Options& options_;
  Outcome& outcome_;
};

/// The options with which clang reads the file.
std::vector<std::string> reading_options() {
  std::vector<std::string> options = {"-resource-dir=" DYNASOAR_CLANG_RESOURCES};
  if (!as_cuda) return options;
  for (const char* option : {"-xcuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib",
                             "-Wno-unknown-cuda-version", "-include" DYNASOAR_CUDA_DECLARATIONS}) {
    options.emplace_back(option);
  }
  return options;
}

int fail(const std::string& what) {
  llvm::errs() << "dynasoar-coalesce: " << what << "\n";
  return 1;
}

}  // namespace

int main(int argc, const char** argv) {
  auto parser = clang::tooling::CommonOptionsParser::create(
      argc, argv, category, cl::Required,
      "Rewrites memory allocations that all threads make together, with the same size, to collective ones.\n"
      "The report goes to the standard error stream. 0: rewritten; 1: wrong call or program; 2: refused.");
  if (!parser) return fail(llvm::toString(parser.takeError()));
  if (parser->getSourcePathList().size() != 1) return fail("rewrites one file at a time; name one file");
  Options options{{takes_argument.begin(), takes_argument.end()}, {uniform.begin(), uniform.end()}};
  for (const char* name : {"std::min", "std::max"}) options.uniform.insert(name);

  clang::tooling::ClangTool tool(parser->getCompilations(), parser->getSourcePathList());
  tool.appendArgumentsAdjuster(
      clang::tooling::getInsertArgumentAdjuster(reading_options(), clang::tooling::ArgumentInsertPosition::BEGIN));
  Outcome outcome;
  Factory factory(options, outcome);
  if (tool.run(&factory) != 0) return fail("cannot read the program; nothing is rewritten");
  for (const std::string& line : outcome.report) llvm::errs() << line << "\n";
  std::error_code error;
  llvm::raw_fd_ostream file(output, error);
  if (error) return fail("cannot write '" + output + "': " + error.message());
  file << outcome.text;
  return outcome.refused ? 2 : 0;
}
