// The effect of calls on uniform values.
#include "uniformity.h"

namespace dynasoar::coalesce {

using namespace clang;

/// Converts needs of the callee's parameters to needs of the caller's parameters.
Needs FunctionAnalysis::substitute(const Needs& needs, const std::vector<Needs>& arguments, const Stmt* cause) const {
  if (needs.differs()) return Needs::differ(cause);
  Needs result;
  for (unsigned i = 0; i < 63; ++i) {
    if ((needs.mask >> i & 1) == 0) continue;
    result.add(i < arguments.size() ? arguments[i] : Needs::differ(cause));
  }
  return result;
}

Needs FunctionAnalysis::evaluate_argument(const Expr* argument, QualType parameter, bool of_uniform) {
  if (!parameter.isNull() && parameter->isReferenceType()) {
    const bool is_read = of_uniform && parameter->getPointeeType().isConstQualified();
    if (is_read && argument->isGLValue()) {
      const auto* temporary = dyn_cast<MaterializeTemporaryExpr>(argument->IgnoreParens());
      return temporary != nullptr ? evaluate(temporary->getSubExpr()) : read(argument);
    }
    escape(argument);
    evaluate(argument);
    return Needs::differ(argument);
  }
  return evaluate(argument);
}

Needs FunctionAnalysis::evaluate_call(const CallExpr* call) {
  const FunctionDecl* const callee = call->getDirectCallee();
  const auto* const method = dyn_cast_or_null<CXXMethodDecl>(callee);
  const auto* const member = dyn_cast<MemberExpr>(call->getCallee()->IgnoreParens());
  const bool is_indirect =
      callee == nullptr || (method != nullptr && method->isVirtual() && (member == nullptr || !member->hasQualifier()));
  if (member != nullptr) {  // a method knows its object
    escape(member->getBase());
    evaluate(member->getBase());
  } else if (callee == nullptr) {
    evaluate(call->getCallee());
  }
  const Role role = callee == nullptr ? Role::other : program_.role(callee);
  const bool has_object = isa<CXXOperatorCallExpr>(call) && method != nullptr && method->isInstance();

  Call found{call, role, nullptr, {}, {}};
  std::vector<const Expr*> results;  // variables of which a uniform function gets the address
  Needs all;
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const Expr* const argument = call->getArg(i);
    if (has_object && i == 0) {
      escape(argument);
      evaluate(argument);
      continue;
    }
    const unsigned index = i - (has_object ? 1 : 0);
    const QualType type =
        callee != nullptr && index < callee->getNumParams() ? callee->getParamDecl(index)->getType() : QualType();
    const auto* address = dyn_cast<UnaryOperator>(argument->IgnoreParenImpCasts());
    if (role == Role::uniform && address != nullptr && address->getOpcode() == UO_AddrOf &&
        local(address->getSubExpr()) != nullptr) {
      results.push_back(address->getSubExpr());
      continue;
    }
    found.arguments.push_back(evaluate_argument(argument, type, role == Role::uniform));
    all.add(found.arguments.back());
  }
  found.control = control();
  if (role == Role::uniform) {
    for (const Expr* result : results) assign(result, all);
    return all;
  }
  if (role != Role::other) {
    found_.calls.push_back(found);
    return Needs::differ(call);
  }
  if (is_indirect) {
    found_.calls.push_back(found);
    if (program_.indirect.differs()) end(Needs::differ(call));
    return Needs::differ(call);
  }
  if (callee->isNoReturn()) end(control());
  if (llvm::StringRef(callee->getNameAsString()).endswith("setjmp")) changed_ |= whole_.add(Needs::differ(call));
  callee->hasBody(found.callee);
  found_.calls.push_back(found);
  const FunctionDecl* const definition = found.callee;
  if (definition == nullptr) return Needs::differ(call);
  const Summary& summary = program_.summary(definition);
  if (summary.may_end) end(control() | substitute(summary.ends, found.arguments, call));
  if (definition->getReturnType()->isReferenceType()) return Needs::differ(call);
  return substitute(summary.returns, found.arguments, call);
}

}  // namespace dynasoar::coalesce
