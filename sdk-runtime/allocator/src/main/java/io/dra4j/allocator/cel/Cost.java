// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import dev.cel.common.ast.CelExpr;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A lower bound of the cost that Kubernetes estimates for an expression.
 *
 * <p>Variables, lists, maps and loop iterations are counted as in Kubernetes. String functions and loops over lists of
 * unknown length are not counted.
 */
final class Cost {
    /** The limit that Kubernetes sets for one selector. */
    static final long LIMIT = 1_000_000;

    private static final long ENOUGH = 1L << 30;
    private static final long LIST = 10;
    private static final long MAP = 30;
    private static final long STRUCT = 40;

    /** A device has at most this many attributes and capacities. */
    private static final long NAMES = 32;

    private static final Set<String> BY_NAME = Set.of("attributes", "capacity");
    private static final String CONDITIONAL = "_?_:_";

    private Cost() {}

    static long least(CelExpr expr) {
        return Math.min(
                ENOUGH,
                switch (expr.getKind()) {
                    case IDENT -> 1;
                    case SELECT ->
                        least(expr.select().operand()) + (expr.select().testOnly() ? 0 : 1);
                    case CALL -> ofCall(expr.call());
                    case LIST -> LIST + sum(expr.list().elements().stream());
                    case MAP -> MAP + sum(expr.map().entries().stream().flatMap(Cost::both));
                    case STRUCT -> STRUCT + sum(expr.struct().entries().stream().map(one -> one.value()));
                    case COMPREHENSION -> ofLoop(expr.comprehension());
                    default -> 0;
                });
    }

    private static Stream<CelExpr> both(CelExpr.CelMap.Entry entry) {
        return Stream.of(entry.key(), entry.value());
    }

    private static long sum(Stream<CelExpr> all) {
        return all.mapToLong(Cost::least).sum();
    }

    private static long ofCall(CelExpr.CelCall call) {
        List<CelExpr> arguments = call.args();
        long target = call.target().map(Cost::least).orElse(0L);
        return call.function().equals(CONDITIONAL)
                ? least(arguments.get(0)) + Math.max(least(arguments.get(1)), least(arguments.get(2)))
                : target + sum(arguments.stream());
    }

    private static long ofLoop(CelExpr.CelComprehension loop) {
        long times = length(loop.iterRange());
        long range = times == 0 ? 0 : least(loop.iterRange());
        return range
                + least(loop.accuInit())
                + times * (least(loop.loopCondition()) + least(loop.loopStep()))
                + least(loop.result());
    }

    /** Returns the length of what a loop runs over; 0 if it is not known. */
    private static long length(CelExpr range) {
        return switch (range.getKind()) {
            case LIST -> range.list().elements().size();
            case MAP -> range.map().entries().size();
            case SELECT -> BY_NAME.contains(range.select().field()) ? NAMES : 0;
            default -> 0;
        };
    }
}
