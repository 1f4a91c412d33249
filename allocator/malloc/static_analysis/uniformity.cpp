#include "uniformity.h"

namespace dynasoar::coalesce {

using namespace clang;

FunctionAnalysis::FunctionAnalysis(const ASTContext& context, const Program& program, const FunctionDecl* function)
    : context_(context), program_(program), function_(function) {
  for (const ParmVarDecl* parameter : function->parameters()) {
    const bool is_reference = parameter->getType()->isReferenceType();
    values_[parameter] = is_reference ? Needs::differ(nullptr) : Needs::parameter(parameter->getFunctionScopeIndex());
  }
}

Summary FunctionAnalysis::run() {
  whole_.add(program_.destructors);
  do {
    changed_ = false;
    control_ = gone_ = {};
    found_ = {};
    visit(function_->getBody());
    if (const auto* constructor = dyn_cast<CXXConstructorDecl>(function_)) {
      for (const CXXCtorInitializer* member : constructor->inits()) evaluate(member->getInit());
    }
  } while (changed_);
  return found_;
}

// Statements

void FunctionAnalysis::visit(const Stmt* statement) {
  if (statement == nullptr) return;
  if (const auto* expression = dyn_cast<Expr>(statement)) {
    evaluate(expression);
  } else if (const auto* declarations = dyn_cast<DeclStmt>(statement)) {
    for (const Decl* declaration : declarations->decls()) visit_declaration(declaration);
  } else if (const auto* branch = dyn_cast<IfStmt>(statement)) {
    visit(branch->getInit());
    visit(branch->getConditionVariableDeclStmt());
    const Needs condition = evaluate(branch->getCond());
    visit_under(branch->getThen(), condition);
    visit_under(branch->getElse(), condition);
  } else if (const auto* for_loop = dyn_cast<ForStmt>(statement)) {
    visit(for_loop->getInit());
    if (for_loop->getConditionVariable() != nullptr) changed_ |= whole_.add(Needs::differ(for_loop));
    visit_loop(for_loop, for_loop->getCond(), for_loop->getBody(), for_loop->getInc(), {});
  } else if (const auto* while_loop = dyn_cast<WhileStmt>(statement)) {
    if (while_loop->getConditionVariable() != nullptr) changed_ |= whole_.add(Needs::differ(while_loop));
    visit_loop(while_loop, while_loop->getCond(), while_loop->getBody(), nullptr, {});
  } else if (const auto* do_loop = dyn_cast<DoStmt>(statement)) {
    visit_loop(do_loop, do_loop->getCond(), do_loop->getBody(), nullptr, {});
  } else if (const auto* range_loop = dyn_cast<CXXForRangeStmt>(statement)) {
    visit(range_loop->getInit());
    visit(range_loop->getRangeStmt());
    visit(range_loop->getBeginStmt());
    visit(range_loop->getEndStmt());
    visit(range_loop->getLoopVarStmt());
    visit_loop(range_loop, nullptr, range_loop->getBody(), nullptr, Needs::differ(range_loop->getRangeInit()));
  } else if (const auto* choice = dyn_cast<SwitchStmt>(statement)) {
    visit_switch(choice);
  } else if (const auto* result = dyn_cast<ReturnStmt>(statement)) {
    if (const Expr* value = result->getRetValue()) {
      if (function_->getReturnType()->isReferenceType()) escape(value);
      found_.returns.add(evaluate(value));
    }
    found_.returns.add(control());
    leave(control());
  } else if (isa<BreakStmt>(statement)) {
    jump(false);
  } else if (isa<ContinueStmt>(statement)) {
    jump(true);
  } else if (isa<CompoundStmt>(statement) || isa<SwitchCase>(statement) || isa<AttributedStmt>(statement) ||
             isa<NullStmt>(statement)) {
    visit_children(statement);
  } else {  // goto, label, try, assembler, coroutine and others
    changed_ |= whole_.add(Needs::differ(statement));
    escape(statement);
    visit_children(statement);
  }
}

void FunctionAnalysis::visit_under(const Stmt* statement, const Needs& more) {
  const Needs outside = control_;
  control_.add(more);
  visit(statement);
  control_ = outside;
}

void FunctionAnalysis::visit_children(const Stmt* statement) {
  for (const Stmt* child : statement->children()) visit(child);
}

void FunctionAnalysis::visit_loop(const Stmt* loop, const Expr* condition, const Stmt* body, const Expr* increment,
                                  Needs more) {
  const Needs outside = control_;
  control_.add(more);
  control_.add(jumps_[loop]);
  targets_.push_back({loop, true});
  if (condition != nullptr) changed_ |= jumps_[loop].add(evaluate(condition));
  control_.add(jumps_[loop]);
  visit(body);
  if (increment != nullptr) evaluate(increment);
  targets_.pop_back();
  control_ = outside;
}

void FunctionAnalysis::visit_switch(const SwitchStmt* statement) {
  visit(statement->getInit());
  visit(statement->getConditionVariableDeclStmt());
  const Needs outside = control_;
  control_.add(evaluate(statement->getCond()));
  control_.add(jumps_[statement]);
  targets_.push_back({statement, false});
  visit(statement->getBody());
  targets_.pop_back();
  control_ = outside;
}

void FunctionAnalysis::visit_declaration(const Decl* declaration) {
  const auto* variable = dyn_cast<VarDecl>(declaration);
  if (variable == nullptr) return;
  const Expr* const value = variable->getInit();
  if (variable->hasGlobalStorage()) {  // `static`: one thread computes the value
    escape(value);
    evaluate_under(value, Needs::differ(value));
    return;
  }
  if (variable->getType()->isVariablyModifiedType()) changed_ |= whole_.add(Needs::differ(value));
  if (variable->getType()->isReferenceType()) {
    if (value != nullptr) {
      escape(value);
      evaluate(value);
    }
    note(variable, Needs::differ(value));
    return;
  }
  // Without a value: reading it before it gets one is undefined behaviour.
  if (value != nullptr) note(variable, evaluate(value) | control());
}

/// `break`, which leaves the innermost loop or switch, or `continue`.
void FunctionAnalysis::jump(bool needs_loop) {
  for (auto target = targets_.rbegin(); target != targets_.rend(); ++target) {
    changed_ |= jumps_[target->statement].add(control());
    if (target->is_loop || !needs_loop) return;
  }
}

/// Notes that threads leave the function here.
void FunctionAnalysis::leave(const Needs& why) {
  gone_.add(why);
  for (const Target& target : targets_) changed_ |= jumps_[target.statement].add(why);
}

/// Notes that threads exit here.
void FunctionAnalysis::end(const Needs& why) {
  found_.may_end = true;
  found_.ends.add(why);
  leave(why);
}

// Values

const VarDecl* FunctionAnalysis::local(const Expr* place) const {
  place = place->IgnoreParens();
  if (const auto* cast = dyn_cast<CastExpr>(place)) {
    if (cast->getCastKind() == CK_NoOp) return local(cast->getSubExpr());
  }
  if (const auto* member = dyn_cast<MemberExpr>(place)) {
    if (member->isArrow() || !isa<FieldDecl>(member->getMemberDecl())) return nullptr;
    if (member->getMemberDecl()->getType()->isReferenceType()) return nullptr;
    return local(member->getBase());
  }
  const auto* name = dyn_cast<DeclRefExpr>(place);
  const auto* variable = name == nullptr ? nullptr : dyn_cast<VarDecl>(name->getDecl());
  if (variable == nullptr || !variable->isLocalVarDeclOrParm() || variable->hasGlobalStorage()) return nullptr;
  if (variable->getDeclContext() != function_ || variable->getType().isVolatileQualified()) return nullptr;
  return variable->getType()->isReferenceType() ? nullptr : variable;
}

void FunctionAnalysis::note(const VarDecl* variable, const Needs& value) {
  changed_ |= values_[variable].add(value);
}

bool FunctionAnalysis::is_constant(const Expr* expression) const {
  if (expression->isValueDependent() || expression->isTypeDependent()) return false;
  Expr::EvalResult result;
  return expression->isPRValue() && expression->EvaluateAsRValue(result, context_) && !result.HasSideEffects &&
         (!result.Val.isLValue() || result.Val.isNullPointer());
}

/// Whether a name means a constant, or a variable of CUDA that is the same for all threads of a block.
bool FunctionAnalysis::is_same_for_all(const DeclRefExpr* name) const {
  const auto* const variable = dyn_cast<VarDecl>(name->getDecl());
  if (variable == nullptr) return false;
  if (program_.is_uniform_global(variable)) return true;
  const auto* const record = variable->getType()->getAsCXXRecordDecl();
  return !variable->getType()->isReferenceType() && (record == nullptr || !record->hasMutableFields()) &&
         variable->isUsableInConstantExpressions(context_);
}

/// The value of a place that is read.
Needs FunctionAnalysis::read(const Expr* place) {
  if (const VarDecl* variable = local(place)) return values_[variable];
  place = place->IgnoreParens();
  const Expr* base = place;
  while (const auto* member = dyn_cast<MemberExpr>(base)) {
    const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl());
    if (member->isArrow() || field == nullptr || field->isMutable() || field->getType()->isReferenceType()) break;
    base = member->getBase()->IgnoreParenImpCasts();
  }
  if (const auto* name = dyn_cast<DeclRefExpr>(base)) return is_same_for_all(name) ? Needs{} : Needs::differ(place);
  if (const auto* unary = dyn_cast<UnaryOperator>(place)) {
    if (unary->isIncrementDecrementOp()) return evaluate_unary(unary);
  }
  if (const auto* binary = dyn_cast<BinaryOperator>(place)) {
    if (binary->isAssignmentOp()) return evaluate_binary(binary);
  }
  if (const auto* choice = dyn_cast<ConditionalOperator>(place)) return evaluate_choice(choice, true);
  if (const auto* call = dyn_cast<CallExpr>(place)) return evaluate_call(call);
  evaluate(place);
  return Needs::differ(place);
}

Needs FunctionAnalysis::assign(const Expr* place, Needs value) {
  value.add(control());
  if (const VarDecl* variable = local(place)) {
    note(variable, value);
  } else {
    escape(place);
    evaluate(place);
  }
  return value;
}

/// Notes that the addresses of the variables in this expression are known elsewhere.
void FunctionAnalysis::escape(const Stmt* expression) {
  if (expression == nullptr) return;
  if (const auto* cast = dyn_cast<CastExpr>(expression)) {
    if (cast->getCastKind() == CK_LValueToRValue) return;
  }
  if (const auto* name = dyn_cast<DeclRefExpr>(expression)) {
    if (const auto* variable = dyn_cast<VarDecl>(name->getDecl())) note(variable, Needs::differ(name));
  }
  for (const Stmt* child : expression->children()) escape(child);
}

Needs FunctionAnalysis::evaluate_under(const Expr* expression, const Needs& more) {
  const Needs outside = control_;
  control_.add(more);
  const Needs value = evaluate(expression);
  control_ = outside;
  return value;
}

Needs FunctionAnalysis::evaluate_children(const Expr* expression) {
  Needs all;
  for (const Stmt* child : expression->children()) {
    if (const auto* operand = dyn_cast_or_null<Expr>(child)) {
      all.add(evaluate(operand));
    } else {
      visit(child);
    }
  }
  return all;
}

Needs FunctionAnalysis::evaluate(const Expr* expression) {
  if (expression == nullptr || is_constant(expression)) return {};
  if (isa<UnaryExprOrTypeTraitExpr>(expression) || isa<CXXNoexceptExpr>(expression) || isa<StringLiteral>(expression)) {
    return isa<StringLiteral>(expression) || is_constant(expression) ? Needs{} : Needs::differ(expression);
  }
  if (isa<ParenExpr>(expression) || isa<FullExpr>(expression) || isa<MaterializeTemporaryExpr>(expression) ||
      isa<CXXBindTemporaryExpr>(expression) || isa<SubstNonTypeTemplateParmExpr>(expression) ||
      isa<InitListExpr>(expression) || isa<ImplicitValueInitExpr>(expression) ||
      isa<CXXScalarValueInitExpr>(expression)) {
    return evaluate_children(expression);
  }
  if (const auto* defaulted = dyn_cast<CXXDefaultArgExpr>(expression)) {
    return is_constant(defaulted->getExpr()) ? Needs{} : Needs::differ(expression);
  }
  if (const auto* cast = dyn_cast<CastExpr>(expression)) {
    if (cast->getCastKind() == CK_LValueToRValue) return read(cast->getSubExpr());
    return evaluate(cast->getSubExpr());
  }
  if (isa<DeclRefExpr>(expression) || isa<MemberExpr>(expression)) {  // a place that is used in some other way
    escape(expression);
    if (isa<MemberExpr>(expression)) evaluate_children(expression);
    return Needs::differ(expression);
  }
  if (const auto* unary = dyn_cast<UnaryOperator>(expression)) return evaluate_unary(unary);
  if (const auto* binary = dyn_cast<BinaryOperator>(expression)) return evaluate_binary(binary);
  if (const auto* choice = dyn_cast<ConditionalOperator>(expression)) return evaluate_choice(choice, false);
  if (const auto* choice = dyn_cast<BinaryConditionalOperator>(expression)) {  // `a ?: b`
    const Needs first = evaluate(choice->getCommon());
    evaluate_under(choice->getFalseExpr(), first);
    return Needs::differ(expression);
  }
  if (const auto* call = dyn_cast<CallExpr>(expression)) return evaluate_call(call);
  if (const auto* construction = dyn_cast<CXXConstructExpr>(expression)) return evaluate_construction(construction);
  if (const auto* lambda = dyn_cast<LambdaExpr>(expression)) return evaluate_lambda(lambda);
  if (isa<CXXThrowExpr>(expression)) end(control());
  evaluate_children(expression);
  return Needs::differ(expression);
}

/// @param reads   whether the chosen place is read, or its value or address used as it is
Needs FunctionAnalysis::evaluate_choice(const ConditionalOperator* choice, bool reads) {
  const Needs condition = evaluate(choice->getCond());
  const Needs outside = control_;
  control_.add(condition);
  Needs value = condition;
  for (const Expr* side : {choice->getTrueExpr(), choice->getFalseExpr()})
    value.add(reads ? read(side) : evaluate(side));
  control_ = outside;
  return value;
}

Needs FunctionAnalysis::evaluate_unary(const UnaryOperator* expression) {
  const Expr* const operand = expression->getSubExpr();
  switch (expression->getOpcode()) {
    case UO_AddrOf:
      escape(operand);
      evaluate(operand);
      return Needs::differ(expression);
    case UO_PostInc:
    case UO_PostDec:
    case UO_PreInc:
    case UO_PreDec: return assign(operand, read(operand));
    case UO_Plus:
    case UO_Minus:
    case UO_Not:
    case UO_LNot:
    case UO_Extension: return evaluate(operand);
    default: evaluate(operand); return Needs::differ(expression);
  }
}

Needs FunctionAnalysis::evaluate_binary(const BinaryOperator* expression) {
  const Expr* const left = expression->getLHS();
  const Expr* const right = expression->getRHS();
  if (expression->isCompoundAssignmentOp()) return assign(left, read(left) | evaluate(right));
  if (expression->isAssignmentOp()) return assign(left, evaluate(right));
  if (expression->isPtrMemOp()) {
    escape(left);
    evaluate_children(expression);
    return Needs::differ(expression);
  }
  const Needs first = evaluate(left);
  if (expression->isLogicalOp()) return first | evaluate_under(right, first);
  const Needs second = evaluate(right);
  return expression->getOpcode() == BO_Comma ? second : first | second;
}

Needs FunctionAnalysis::evaluate_construction(const CXXConstructExpr* expression) {
  const CXXConstructorDecl* const constructor = expression->getConstructor();
  if (constructor->isTrivial()) {
    if (constructor->isCopyOrMoveConstructor()) return read(expression->getArg(0));
    if (constructor->isDefaultConstructor()) return {};
  }
  for (const Expr* argument : expression->arguments()) {
    if (argument->isGLValue()) escape(argument);
    evaluate(argument);
  }
  if (const FunctionDecl* definition = constructor->getDefinition(); definition != nullptr && definition->hasBody()) {
    if (program_.summary(definition).may_end) end(Needs::differ(expression));
  }
  return Needs::differ(expression);
}

/// The body is a function of its own, which may do anything with the variables that it captures.
Needs FunctionAnalysis::evaluate_lambda(const LambdaExpr* expression) {
  for (const LambdaCapture& capture : expression->captures()) {
    if (capture.capturesVariable() && capture.getCaptureKind() == LCK_ByRef) {
      note(capture.getCapturedVar(), Needs::differ(expression));
    }
  }
  for (const Expr* value : expression->capture_inits()) {
    if (value != nullptr) evaluate(value);
  }
  return Needs::differ(expression);
}

}  // namespace dynasoar::coalesce
