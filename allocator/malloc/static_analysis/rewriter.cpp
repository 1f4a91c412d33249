#include "rewriter.h"

#include <algorithm>

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/TypeLoc.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include "program_names.h"

namespace dynasoar::coalesce {

using namespace clang;

namespace {

/// Functions of the C library whose memory `free` takes, or that take memory of `malloc`.
const std::set<std::string> kOtherAllocations = {"calloc",   "realloc",        "reallocarray", "aligned_alloc",
                                                 "memalign", "posix_memalign", "strdup",       "strndup",
                                                 "valloc",   "getline"};

const std::set<std::string> kUniformBuiltins = {"blockIdx", "blockDim", "gridDim", "warpSize"};

/// A function at file scope or in `std`, as C's are.
bool is_of_library(const FunctionDecl* function) {
  return function->getDeclContext()->getRedeclContext()->isTranslationUnit() || function->isInStdNamespace() ||
         function->isExternC();
}

}  // namespace

Rewriter::Rewriter(const ASTContext& context, const Options& options)
    : context_(context), sources_(context.getSourceManager()), options_(options) {
  program_.role = [this](const FunctionDecl* function) {
    const std::string name = function->getQualifiedNameAsString();
    const bool is_seen = function->hasBody() && is_in_main_file(function->getDefinition()->getLocation());
    if (!is_seen && options_.uniform.count(name) != 0) return Role::uniform;
    if (!is_seen && options_.takes_argument.count(name) != 0) return Role::takes_argument;
    if (is_seen || !is_of_library(function)) return Role::other;
    if (function->getNumParams() == 1 && function->getNameAsString() == "malloc") return Role::malloc;
    if (function->getNumParams() == 1 && function->getNameAsString() == "free") return Role::free;
    return Role::other;
  };
  program_.summary = [this](const FunctionDecl* definition) -> const Summary& {
    const auto [entry, is_new] = summaries_.try_emplace(definition);
    if (is_new) definitions_.push_back(definition);
    return entry->second;
  };
  program_.is_uniform_global = [this](const VarDecl* variable) {
    return variable->hasGlobalStorage() && !is_in_main_file(variable->getLocation()) &&
           kUniformBuiltins.count(variable->getNameAsString()) != 0;
  };
}

Outcome Rewriter::run() {
  analyse();
  decide();
  find_refusals();
  if (!refused_) edit_calls();
  Outcome outcome{refused_, sources_.getBufferData(sources_.getMainFileID()).str(), {}};
  if (!refused_) {
    for (auto edit = edits_.rbegin(); edit != edits_.rend(); ++edit) {
      outcome.text.replace(edit->first, edit->second.length, edit->second.text);
    }
  }
  for (const auto& [place, lines] : report_) outcome.report.insert(outcome.report.end(), lines.begin(), lines.end());
  return outcome;
}

/// Finds all calls and what they need, in all functions at once, because these call each other.
void Rewriter::analyse() {
  const ProgramNames names(context_);
  for (const auto& [name, user] : names.uses) {
    const auto* const function = cast<FunctionDecl>(name->getDecl());
    if (names.callees.count(name) == 0) address_taken_.insert(pattern_of(function));
    const std::string spelled = function->getNameAsString();
    if (user != nullptr && is_for_host(context_, user)) continue;
    const Role role = program_.role(function);
    if (role == Role::malloc || role == Role::free) {
      allocation_names_[sources_.getFileOffset(sources_.getExpansionLoc(name->getLocation()))] = name;
      if (names.callees.count(name) == 0) refuse(name->getLocation(), "the address of '" + spelled + "' is taken");
      if (user == nullptr) refuse(name->getLocation(), "'" + spelled + "' is called outside of functions");
      if (user != nullptr && is_for_both(user)) {
        refuse(name->getLocation(), "'" + spelled + "' is called on host and device; separate the function in two");
      }
    } else if (is_of_library(function) && kOtherAllocations.count(spelled) != 0) {
      refuse(name->getLocation(), "'" + spelled + "' allocates memory that the allocator would not know in 'free'");
    }
  }
  for (const FunctionDecl* definition : names.definitions) program_.summary(definition);
  bool is_new = true;
  while (is_new) {
    is_new = false;
    for (std::size_t i = 0; i < definitions_.size(); ++i) {  // calls add more
      const FunctionDecl* const definition = definitions_[i];
      const Summary found = FunctionAnalysis(context_, program_, definition).run();
      is_new |= summaries_[definition].update(found);
      if (found.ends.mask == 0) continue;
      const auto* method = dyn_cast<CXXMethodDecl>(definition);
      const Needs ends = Needs::differ(definition->getBody());
      if (isa<CXXDestructorDecl>(definition)) is_new |= program_.destructors.add(ends);
      if (address_taken_.count(pattern_of(definition)) != 0 ||
          (method != nullptr && (method->isVirtual() || method->getParent()->isLambda()))) {
        is_new |= program_.indirect.add(ends);
      }
    }
  }
}

/// What decides whether a call is collective.
Needs Rewriter::needs_of(const Call& call) const {
  Needs needs = call.control;
  if (call.role == Role::malloc) needs.add(call.arguments[0]);
  if (call.role == Role::takes_argument) {
    for (unsigned i = 0; i < call.arguments.size(); ++i) {
      if (!call.call->getArg(i)->getType()->isPointerType()) needs.add(call.arguments[i]);
    }
  }
  if (call.callee != nullptr) {
    const Needs& wanted = find_function(call.callee)->needs;
    for (unsigned i = 0; i < 63; ++i) {
      if ((wanted.mask >> i & 1) == 0) continue;
      needs.add(i < call.arguments.size() ? call.arguments[i] : Needs::differ(call.call));
    }
  }
  return needs;
}

bool Rewriter::coalesces(const Call& call) const {
  if (call.role == Role::free) return false;
  const SourceLocation begin = call.call->getExprLoc();
  if (calls_left_.count({place(begin), place(call.call->getEndLoc())}) != 0) return false;
  return call.role != Role::other || (call.callee != nullptr && find_function(call.callee)->coalesces);
}

/// @return whether there was something new
bool Rewriter::look_at_calls() {
  bool is_new = false;
  for (const FunctionDecl* definition : definitions_) {
    Function& function = function_of(definition);
    for (const Call& call : summaries_[definition].calls) {
      if (!coalesces(call)) continue;
      const Needs needs = needs_of(call);
      if (needs.differs() || !(function.is_entry || function.why_not.empty()) ||
          call.call->getRParenLoc().isMacroID() || call.call->getExprLoc().isMacroID()) {
        calls_left_.insert({place(call.call->getExprLoc()), place(call.call->getEndLoc())});
        is_new = true;
        continue;
      }
      is_new |= function.needs.add(needs);
      is_new |= !function.coalesces;
      function.coalesces = true;
    }
  }
  return is_new;
}

/// Only adds to what functions need and to the calls that cannot coalesce, until there is nothing to add; then finds
/// the functions that still coalesce something.
void Rewriter::decide() {
  for (const FunctionDecl* definition : definitions_) function_of(definition);
  while (look_at_calls()) {
  }
  for (auto& [pattern, function] : functions_) function.coalesces = false;
  while (look_at_calls()) {
  }
}

void Rewriter::find_refusals() {
  std::set<Place> calls;
  for (const FunctionDecl* definition : definitions_) {
    for (const Call& call : summaries_[definition].calls) {
      if (call.role != Role::malloc && call.role != Role::free) continue;
      const SourceLocation begin = call.call->getCallee()->getBeginLoc();
      const SourceLocation end = call.call->getRParenLoc();
      if (!begin.isMacroID() && !end.isMacroID() && is_in_main_file(begin)) {
        calls.insert(place(cast<DeclRefExpr>(call.call->getCallee()->IgnoreParenImpCasts())->getLocation()));
      }
    }
  }
  for (const auto& [at, name] : allocation_names_) {
    if (is_in_main_file(name->getLocation()) && !name->getLocation().isMacroID() && calls.count(at) != 0) continue;
    refuse(name->getLocation(), "'" + name->getDecl()->getNameAsString() +
                                    "' is called in a header, a macro, code that never runs or a template without "
                                    "instances, where calls are not rewritten");
  }
}

// Text

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
  if (!is_in_main_file(begin)) return;
  const std::string name = expression->getDirectCallee()->getNameAsString();
  if (call.role == Role::malloc || call.role == Role::free) {
    const SourceRange callee = expression->getCallee()->getSourceRange();
    edits_[place(begin)] = {static_cast<unsigned>(text(callee).size()),
                            call.role == Role::free ? "dynasoar::collective_free" : "dynasoar::collective_malloc"};
  }
  if (coalesces(call)) {
    const std::string value = function.is_entry ? "true" : "coalesce";
    insert(expression->getRParenLoc(), (expression->getNumArgs() == 0 ? "" : ", ") + value);
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
    insert(brace.getLocWithOffset(1), "\n  const dynasoar::CollectiveMemory dynasoar_memory;");
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
  return "in another instance of the template, it is not collective";
}

std::string Rewriter::describe(const Needs& needs) const {
  if (needs.cause == nullptr) return "it depends on what the analysis does not follow";
  std::string code = text(needs.cause->getSourceRange());
  code = code.substr(0, std::min<std::size_t>(code.find('\n'), 40));
  return "'" + code + "' in line " + std::to_string(line(needs.cause->getBeginLoc()));
}

// Functions

const FunctionDecl* Rewriter::pattern_of(const FunctionDecl* function) const {
  if (const FunctionDecl* pattern = function->getTemplateInstantiationPattern()) function = pattern;
  return function->getCanonicalDecl();
}

Rewriter::Function& Rewriter::function_of(const FunctionDecl* definition) {
  const FunctionDecl* const pattern = pattern_of(definition);
  const auto [entry, is_new] = functions_.try_emplace(pattern);
  Function& function = entry->second;
  if (is_new) {
    function.pattern = pattern;
    function.is_entry = definition->isMain() || definition->hasAttr<CUDAGlobalAttr>();
    if (!function.is_entry) function.why_not = why_not_extended(pattern);
  }
  return function;
}

const Rewriter::Function* Rewriter::find_function(const FunctionDecl* definition) const {
  return &functions_.at(pattern_of(definition));
}

/// Why a function cannot get another argument.
std::string Rewriter::why_not_extended(const FunctionDecl* pattern) const {
  const auto* method = dyn_cast<CXXMethodDecl>(pattern);
  if (method != nullptr && method->getParent()->isLambda()) return "is a lambda";
  if (method != nullptr && method->isVirtual()) return "is virtual";
  if (isa<CXXConstructorDecl>(pattern) || isa<CXXDestructorDecl>(pattern)) return "is a constructor or destructor";
  if (!pattern->getDeclName().isIdentifier()) return "is an operator";
  if (address_taken_.count(pattern) != 0) return "is called through pointers";
  if (pattern->isExternC()) return "has C linkage, so other files may call it without the argument";
  if (pattern->isVariadic()) return "takes any number of arguments";
  for (const ParmVarDecl* parameter : pattern->parameters()) {
    if (parameter->isParameterPack()) return "takes any number of arguments";
    if (parameter->hasDefaultArg()) return "has default arguments";
  }
  for (const FunctionDecl* declaration : pattern->redecls()) {
    const FunctionTypeLoc signature = declaration->getFunctionTypeLoc();
    if (!is_in_main_file(declaration->getLocation())) return "is declared in a header";
    if (!signature || signature.getRParenLoc().isMacroID() || declaration->getLocation().isMacroID()) {
      return "is declared by a macro";
    }
    if (text(declaration->getSourceRange()).find("coalesce") != std::string::npos) return "uses the name 'coalesce'";
  }
  if (pattern->getTemplateSpecializationKind() != TSK_Undeclared) return "is specialized or instantiated explicitly";
  const DeclContext* const scope = pattern->getDeclContext()->getRedeclContext();
  const auto* const as_template = pattern->getDescribedFunctionTemplate();
  unsigned overloads = 0;
  for (const NamedDecl* other : scope->lookup(pattern->getDeclName())) {
    const NamedDecl* const own = as_template != nullptr ? static_cast<const NamedDecl*>(as_template) : pattern;
    overloads += other->getCanonicalDecl() != own->getCanonicalDecl();
  }
  if (overloads != 0) return "has overloads";
  if (as_template != nullptr) {
    for (const FunctionDecl* instance : as_template->specializations()) {
      if (instance->getTemplateSpecializationKind() != TSK_ImplicitInstantiation &&
          instance->getTemplateSpecializationKind() != TSK_Undeclared) {
        return "is specialized or instantiated explicitly";
      }
    }
  }
  return "";
}

// Places

bool Rewriter::is_in_main_file(SourceLocation location) const {
  return sources_.isInMainFile(sources_.getExpansionLoc(location));
}

Rewriter::Place Rewriter::place(SourceLocation location) const {
  return sources_.getFileOffset(sources_.getExpansionLoc(location));
}

unsigned Rewriter::line(SourceLocation location) const {
  return sources_.getExpansionLineNumber(location);
}

std::string Rewriter::text(SourceRange range) const {
  return Lexer::getSourceText(sources_.getExpansionRange(range), sources_, context_.getLangOpts()).str();
}

void Rewriter::refuse(SourceLocation location, const std::string& why) {
  refused_ = true;
  report_[is_in_main_file(location) ? place(location) : 0].insert(
      sources_.getExpansionLoc(location).printToString(sources_) + ": the file is not rewritten: " + why);
}

void Rewriter::tell(SourceLocation location, const std::string& what) {
  report_[place(location)].insert("line " + std::to_string(line(location)) + ": " + what);
}

}  // namespace dynasoar::coalesce
