// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelMutableAst;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelMutableExpr;
import dev.cel.common.ast.CelMutableExpr.CelMutableCall;
import dev.cel.common.navigation.CelNavigableMutableAst;
import dev.cel.compiler.CelCompiler;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.validator.CelValidator;
import dev.cel.validator.CelValidatorFactory;
import dev.cel.validator.validators.DurationLiteralValidator;
import dev.cel.validator.validators.HomogeneousLiteralValidator;
import dev.cel.validator.validators.RegexLiteralValidator;
import dev.cel.validator.validators.TimestampLiteralValidator;
import java.util.Set;

/** Compiles expressions in one environment. */
final class Compiler {
    private final CelCompiler compiler;
    private final CelRuntime runtime;
    private final CelValidator validator;

    Compiler(Environment environment) {
        this.compiler = environment.compiler();
        this.runtime = environment.runtime();
        this.validator = CelValidatorFactory.standardCelValidatorBuilder(compiler, runtime)
                .addAstValidators(
                        DurationLiteralValidator.INSTANCE,
                        TimestampLiteralValidator.INSTANCE,
                        RegexLiteralValidator.INSTANCE,
                        HomogeneousLiteralValidator.newInstance("format"))
                .build();
    }

    CelAbstractSyntaxTree compile(String expression) {
        try {
            CelValidationResult parsed = compiler.parse(expression);
            if (parsed.hasError()) {
                throw failed(Messages.ofParser(parsed, expression));
            }
            CelValidationResult checked = compiler.check(parsed.getAst());
            if (!checked.hasError()) {
                checked = validator.validate(checked.getAst());
            }
            if (checked.hasError()) {
                throw failed(Messages.ofChecker(checked));
            }
            return checked.getAst();
        } catch (CelValidationException e) {
            throw failed(e.getMessage());
        } catch (StackOverflowError e) {
            throw failed(Messages.TOO_DEEP);
        }
    }

    private static ExpressionException failed(String errors) {
        return new ExpressionException("compilation failed: " + errors);
    }

    CelRuntime.Program program(CelAbstractSyntaxTree compiled) {
        try {
            return runtime.createProgram(
                    compiler.check(Domains.optional(compiled)).getAst());
        } catch (CelEvaluationException | CelValidationException e) {
            throw new ExpressionException("program instantiation failed: " + e.getMessage());
        }
    }

    /** A domain without attributes is an empty map in Kubernetes, not an error. */
    private static final class Domains {
        private static final String INDEX = "_[_]";
        private static final Set<String> BY_DOMAIN = Set.of("attributes", "capacity");

        private Domains() {}

        /** Replaces each index and field of {@code attributes} and {@code capacity}; types must be checked again. */
        static CelAbstractSyntaxTree optional(CelAbstractSyntaxTree compiled) {
            CelMutableAst mutable = CelMutableAst.fromCelAst(compiled);
            CelNavigableMutableAst.fromAst(mutable)
                    .getRoot()
                    .allNodes()
                    .map(node -> node.expr())
                    .toList()
                    .forEach(Domains::replace);
            return mutable.toParsedAst();
        }

        private static void replace(CelMutableExpr expr) {
            if (isDomain(expr)) {
                expr.call().setFunction(Environment.DOMAIN);
            } else if (isField(expr)) {
                CelMutableExpr domain = CelMutableExpr.ofConstant(
                        CelConstant.ofValue(expr.select().field()));
                expr.setCall(
                        CelMutableCall.create(Environment.DOMAIN, expr.select().operand(), domain));
            }
        }

        private static boolean isField(CelMutableExpr expr) {
            return expr.getKind() == CelExpr.ExprKind.Kind.SELECT
                    && !expr.select().testOnly()
                    && isByDomain(expr.select().operand());
        }

        private static boolean isDomain(CelMutableExpr expr) {
            return expr.getKind() == CelExpr.ExprKind.Kind.CALL
                    && expr.call().function().equals(INDEX)
                    && isByDomain(expr.call().args().get(0));
        }

        private static boolean isByDomain(CelMutableExpr expr) {
            return expr.getKind() == CelExpr.ExprKind.Kind.SELECT
                    && BY_DOMAIN.contains(expr.select().field());
        }
    }
}
