// Changes the text of a program, and writes the report.
#include "rewriter.h"

#include <algorithm>

#include <clang/AST/TypeLoc.h>
#include <clang/Basic/SourceManager.h>

#include "program_names.h"

namespace dynasoar::coalesce {

using namespace clang;

void Rewriter::edit_calls() {
  for (const FunctionDecl* definition : definitions_) {
    const Function& function = function_of(definition);
    for (const Call& call : summaries_[definition].calls) edit_call(call, function);
  }
  if (edits_.empty()) return;
  for (const auto& [pattern, function] : functions_) {
    if (function.coalesces && !function.is_entry) edit_signature(function);
  }
  edit_main();
}

void Rewriter::edit_call(const Call& call, const Function& function) {
  const CallExpr* const expression = call.call;
  const SourceLocation begin = expression->getCallee()->getBeginLoc();
  if (!is_in_main_file(begin) || (call.role == Role::other && call.callee == nullptr)) return;
  const std::string name = expression->getDirectCallee()->getNameAsString();
  if (call.role == Role::malloc || call.role == Role::free) {
    const SourceRange callee = expression->getCallee()->getSourceRange();
    edits_[place(begin)] = {static_cast<unsigned>(text(callee).size()),
                            call.role == Role::free ? "dynasoar::collective_free" : "dynasoar::collective_malloc"};
  }
  if (coalesces(call)) {
    const std::string value = function.is_entry ? "true" : "coalesce";
    insert(expression->getRParenLoc(), (written_arguments(expression) == 0 ? "" : ", ") + value);
    tell(begin, "'" + name + "' is collective" + (function.is_entry ? "" : " if 'coalesce' says so"));
  } else if (call.role == Role::malloc || call.role == Role::takes_argument ||
             (call.callee != nullptr && find_function(call.callee)->coalesces)) {
    tell(begin, "'" + name + "' is left alone: " + reason(call, function));
  }
}

void Rewriter::edit_signature(const Function& function) {
  bool is_first = true;
  for (const FunctionDecl* declaration : function.pattern->redecls()) {
    const FunctionTypeLoc signature = declaration->getFunctionTypeLoc();
    const SourceLocation after = signature.getLParenLoc().getLocWithOffset(1);
    const bool is_empty = declaration->getNumParams() == 0;
    std::string parameter = is_empty ? "bool coalesce" : ", bool coalesce";
    if (is_first) parameter += " = false";
    is_first = false;
    if (is_empty) {  // perhaps `(void)`
      const unsigned length = place(signature.getRParenLoc()) - place(after);
      edits_[place(after)] = {length, parameter};
    } else {
      insert(signature.getRParenLoc(), parameter);
    }
  }
  tell(function.pattern->getLocation(), "'" + function.pattern->getNameAsString() + "' gets the argument 'coalesce'");
}

void Rewriter::edit_main() {
  edits_[0] = {0, "#include <dynasoar/malloc/collective.h>\n" + (edits_.count(0) != 0 ? edits_[0].text : "")};
  for (const Decl* declaration : context_.getTranslationUnitDecl()->decls()) {
    const auto* function = dyn_cast<FunctionDecl>(declaration);
    if (function == nullptr || !function->isMain() || !function->isThisDeclarationADefinition()) continue;
    if (!is_in_main_file(function->getLocation()) || !isa<CompoundStmt>(function->getBody())) continue;
    const SourceLocation brace = cast<CompoundStmt>(function->getBody())->getLBracLoc();
    std::string& text = edits_[place(brace) + 1].text;  // a call may begin there
    text = "\n  const dynasoar::CollectiveMemory dynasoar_memory;" + text;
    tell(function->getLocation(), "'main' sets up and cleans up the allocator");
    return;
  }
  report_[0].insert("there is no 'main' in this file: create a dynasoar::CollectiveMemory before the first allocation");
}

std::string Rewriter::reason(const Call& call, const Function& function) const {
  if (call.control.differs()) return "not all threads may make the call together: " + describe(call.control);
  if (call.role == Role::malloc && call.arguments[0].differs()) {
    return "the size may differ between threads: " + describe(call.arguments[0]);
  }
  const Needs needs = needs_of(call);
  if (needs.differs()) return "an argument on which it depends may differ between threads: " + describe(needs);
  if (!function.is_entry && !function.why_not.empty()) return "its function " + function.why_not;
  if (call.call->getRParenLoc().isMacroID()) return "it is in a macro";
  if (call.role == Role::takes_argument && !leaves_out_last(call.call)) {
    return "it must leave out the last, optional argument, and no other";
  }
  return "in another instance of the template, it is not collective";
}

std::string Rewriter::describe(const Needs& needs) const {
  if (needs.cause == nullptr) return "it depends on what the analysis does not follow";
  std::string code = text(needs.cause->getSourceRange());
  code = code.substr(0, std::min<std::size_t>(code.find('\n'), 40));
  return "'" + code + "' in line " + std::to_string(line(needs.cause->getBeginLoc()));
}

}  // namespace dynasoar::coalesce
