#include "rewriter.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/TypeLoc.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include "program_names.h"

namespace dynasoar::coalesce {

using namespace clang;

namespace {

/// Functions of the C library whose memory `free` takes, or that take memory of `malloc`.
const std::set<std::string> kOtherAllocations = {
    "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign",  "posix_memalign", "valloc",   "pvalloc",
    "strdup", "strndup", "wcsdup",       "asprintf",      "vasprintf", "getline",        "getdelim", "realpath"};

/// Whether a program with this function would mix memory of the C library with that of the allocator.
bool mixes_memory(const std::string& name) {
  const std::string prefix = "__builtin_";
  if (name.compare(0, prefix.size(), prefix) != 0) return kOtherAllocations.count(name) != 0;
  const std::string rest = name.substr(prefix.size());
  return rest == "malloc" || rest == "free" || kOtherAllocations.count(rest) != 0;
}

const std::set<std::string> kUniformBuiltins = {"blockIdx", "blockDim", "gridDim", "warpSize"};

/// Whether a function is at file scope or in `std`, like those of the C library.
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

/// Finds all calls and their needs, in all functions together, because functions call each other.
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
      if (names.callees.count(name) == 0) {
        refuse(name->getLocation(), "the address of '" + spelled + "' is taken; use a lambda that calls it");
      }
      if (user == nullptr) {
        refuse(name->getLocation(), "'" + spelled + "' is called outside of functions; call it in 'main'");
      }
      if (user != nullptr && is_for_both(user)) {
        refuse(name->getLocation(), "'" + spelled + "' is called on host and device; separate the function in two");
      }
    } else if (is_of_library(function) && mixes_memory(spelled)) {
      refuse(name->getLocation(), "'" + spelled +
                                      "' uses the C library's memory, which the allocator does not know; "
                                      "call only 'malloc' and 'free' in this file");
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

/// The needs that decide whether a call is collective.
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

Rewriter::CallPlace Rewriter::place(const Call& call) const {
  return {place(call.call->getExprLoc()), place(call.call->getEndLoc())};
}

bool Rewriter::coalesces(const Call& call) const {
  if (call.role == Role::free || calls_left_.count(place(call)) != 0) return false;
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
          call.call->getRParenLoc().isMacroID() || call.call->getExprLoc().isMacroID() ||
          (call.role == Role::takes_argument && !leaves_out_last(call.call))) {
        calls_left_.insert(place(call));
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

/// A call in a template can mean another function in each instance: all of them have to take the argument.
/// @return whether there was something new
bool Rewriter::leave_mixed_calls() {
  std::set<CallPlace> some;
  bool is_new = false;
  for (const FunctionDecl* definition : definitions_) {
    for (const Call& call : summaries_[definition].calls) {
      if (coalesces(call)) some.insert(place(call));
    }
  }
  for (const FunctionDecl* definition : definitions_) {
    for (const Call& call : summaries_[definition].calls) {
      if (!coalesces(call) && some.count(place(call)) != 0) is_new |= calls_left_.insert(place(call)).second;
    }
  }
  return is_new;
}

/// Adds to the needs of functions and to the calls that cannot coalesce, until nothing changes. Then finds the
/// functions that still coalesce a call.
void Rewriter::decide() {
  for (const FunctionDecl* definition : definitions_) function_of(definition);
  while (look_at_calls()) {
  }
  do {
    for (auto& [pattern, function] : functions_) function.coalesces = false;
    while (look_at_calls()) {
    }
  } while (leave_mixed_calls());
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
                                    "instances, where calls are not rewritten; move the call into a function");
  }
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

/// The reason why a function cannot get another argument.
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
    if (declaration->getFriendObjectKind() != Decl::FOK_None) return "is declared as a friend";
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
