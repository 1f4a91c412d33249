/// @file
/// Rewriter: decides which allocations of a translation unit are collective, and rewrites it. Used by the tool's main.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include "uniformity.h"

namespace dynasoar::coalesce {

/// The user's information about the program.
struct Options {
  std::set<std::string> takes_argument;  ///< library functions that have the optional argument
  std::set<std::string> uniform;         ///< functions whose results are uniform if their arguments are
};

/// The result for a translation unit.
struct Outcome {
  bool refused = false;             ///< the report has the reason; the text is unchanged
  std::string text;                 ///< of the main file, rewritten
  std::vector<std::string> report;  ///< a line for each call and function, in the order of the file
};

/// Rewrites the main file of a translation unit.
class Rewriter {
 public:
  Rewriter(const clang::ASTContext& context, const Options& options);

  Outcome run();

 private:
  using Place = unsigned;                     // an offset in the main file
  using CallPlace = std::pair<Place, Place>;  // of the callee, and of the end

  struct Edit {
    unsigned length;  // of the text that it replaces
    std::string text;
  };
  /// A function, with all its instantiations if it is a template.
  struct Function {
    const clang::FunctionDecl* pattern = nullptr;
    std::string why_not;  // it cannot get the argument; empty if it can
    bool is_entry = false;
    bool coalesces = false;
    Needs needs;  // for all that it coalesces
  };

  void analyse();
  void decide();
  bool look_at_calls();
  bool leave_mixed_calls();
  Needs needs_of(const Call& call) const;
  bool coalesces(const Call& call) const;
  std::string why_not_extended(const clang::FunctionDecl* pattern) const;
  void find_refusals();
  void edit_calls();
  void edit_call(const Call& call, const Function& function);
  void edit_signature(const Function& function);
  void edit_main();
  std::string reason(const Call& call, const Function& function) const;
  std::string describe(const Needs& needs) const;

  const clang::FunctionDecl* pattern_of(const clang::FunctionDecl* function) const;
  Function& function_of(const clang::FunctionDecl* definition);
  const Function* find_function(const clang::FunctionDecl* definition) const;
  bool is_in_main_file(clang::SourceLocation location) const;
  Place place(clang::SourceLocation location) const;
  CallPlace place(const Call& call) const;
  unsigned line(clang::SourceLocation location) const;
  std::string text(clang::SourceRange range) const;
  void refuse(clang::SourceLocation location, const std::string& why);
  void tell(clang::SourceLocation location, const std::string& what);
  void insert(clang::SourceLocation location, const std::string& text) { edits_[place(location)] = {0, text}; }

  const clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const Options& options_;
  Program program_;
  std::vector<const clang::FunctionDecl*> definitions_;  // that are analysed, in the order in which they were found
  std::map<const clang::FunctionDecl*, Summary> summaries_;
  std::map<const clang::FunctionDecl*, Function> functions_;  // by pattern
  std::set<const clang::FunctionDecl*> address_taken_;        // patterns
  std::set<CallPlace> calls_left_;                            // that cannot coalesce
  std::map<Place, const clang::DeclRefExpr*> allocation_names_;
  std::map<Place, Edit> edits_;
  std::map<Place, std::set<std::string>> report_;
  bool refused_ = false;
};

}  // namespace dynasoar::coalesce
