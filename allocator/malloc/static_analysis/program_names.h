/// @file
/// ProgramNames: the functions that a translation unit defines and how it uses their names. Used by the rewriter.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include <clang/AST/RecursiveASTVisitor.h>

namespace dynasoar::coalesce {

/// Whether only the host runs it, in a CUDA program.
inline bool is_for_host(const clang::ASTContext& context, const clang::FunctionDecl* function) {
  return context.getLangOpts().CUDA && !function->hasAttr<clang::CUDADeviceAttr>() &&
         !function->hasAttr<clang::CUDAGlobalAttr>();
}

/// Whether host and device run it, in a CUDA program.
inline bool is_for_both(const clang::FunctionDecl* function) {
  return function->hasAttr<clang::CUDADeviceAttr>() && function->hasAttr<clang::CUDAHostAttr>();
}

/// The arguments that the program writes.
inline unsigned written_arguments(const clang::CallExpr* call) {
  unsigned count = call->getNumArgs();
  while (count != 0 && llvm::isa<clang::CXXDefaultArgExpr>(call->getArg(count - 1))) --count;
  return count;
}

/// Whether only the last argument of a library function is left out.
inline bool leaves_out_last(const clang::CallExpr* call) {
  return written_arguments(call) + 1 == call->getNumArgs();
}

/// Looks through a translation unit, instances of templates included.
class ProgramNames : public clang::RecursiveASTVisitor<ProgramNames> {
 public:
  using Base = clang::RecursiveASTVisitor<ProgramNames>;
  /// A name of a function, and the function in which it is used; null outside of all.
  using Use = std::pair<const clang::DeclRefExpr*, const clang::FunctionDecl*>;

  explicit ProgramNames(const clang::ASTContext& context) : context_(context) {
    TraverseDecl(context.getTranslationUnitDecl());
  }

  std::vector<const clang::FunctionDecl*> definitions;  ///< of the user's files, for device code
  std::vector<Use> uses;                                ///< of names of functions
  std::set<const clang::Expr*> callees;                 ///< names that are called

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitLambdaBody() const { return true; }

  bool TraverseDecl(clang::Decl* declaration) {
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(declaration);
    if (declaration != nullptr && !llvm::isa<clang::TranslationUnitDecl>(declaration) &&
        context_.getSourceManager().isInSystemHeader(declaration->getLocation())) {
      return true;
    }
    const clang::FunctionDecl* const outside = function_;
    if (function != nullptr) function_ = function;
    const bool result = Base::TraverseDecl(declaration);
    function_ = outside;
    return result;
  }

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (function->isThisDeclarationADefinition() && function->hasBody() && !function->isDependentContext() &&
        !is_for_host(context_, function)) {
      definitions.push_back(function);
    }
    return true;
  }

  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    if (!lambda->getCallOperator()->isDependentContext()) VisitFunctionDecl(lambda->getCallOperator());
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    callees.insert(call->getCallee()->IgnoreParenImpCasts());
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* name) {
    if (llvm::isa<clang::FunctionDecl>(name->getDecl())) uses.emplace_back(name, function_);
    return true;
  }

 private:
  const clang::ASTContext& context_;
  const clang::FunctionDecl* function_ = nullptr;
};

}  // namespace dynasoar::coalesce
