// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rules for how much of a capacity one claim may take.
 *
 * <p>All arithmetic is exact, as that of a server that counts in milli-units; a policy that breaks
 * a rule where amounts are rounded up to whole numbers is of {@link FractionalPolicies}.
 */
final class PolicyRules {

    private static final int MOST_VALUES = 10;

    private PolicyRules() {}

    static void check(Field field, Quantity capacity, RequestPolicy policy) {
        boolean bounded = !policy.validValues().isEmpty() || policy.validRange() != null;
        if (!policy.validValues().isEmpty() && policy.validRange() != null) {
            field.refuse("must not have both validValues and validRange", policy);
        }
        Quantity standard = policy.defaultValue();
        Field defaults = field.child("default");
        boolean hasDefault =
                (standard != null || bounded)
                        && Amounts.isKeptAndNotNegative(defaults, standard)
                        && atMost(defaults, standard, capacity, "the capacity");
        values(field.child("validValues"), capacity, policy.validValues());
        if (hasDefault
                && !policy.validValues().isEmpty()
                && !policy.validValues().contains(standard)) {
            defaults.refuse("must be one of validValues", standard);
        }
        if (policy.validRange() != null) {
            range(field, capacity, hasDefault ? standard : null, policy.validRange());
        }
    }

    private static void values(Field field, Quantity capacity, List<Quantity> values) {
        field.allowsAtMost(MOST_VALUES, values.size(), "values");
        Quantity before = null;
        for (int i = 0; i < values.size(); i++) {
            Quantity value = values.get(i);
            if (Amounts.isKeptAndNotNegative(field.item(i), value)) {
                atMost(field.item(i), value, capacity, "the capacity");
                if (before != null && !isAscending(before, value)) {
                    field.item(i)
                            .refuse(
                                    "must be greater than " + before + ", the value before it",
                                    value);
                }
                before = value;
            }
        }
    }

    private static boolean isAscending(Quantity before, Quantity value) {
        return before.compareTo(value) < 0;
    }

    private static void range(
            Field policy, Quantity capacity, @Nullable Quantity standard, ValidRange range) {
        Field field = policy.child("validRange");
        if (!Amounts.isKeptAndNotNegative(field.child("min"), range.min())
                || !atMost(field.child("min"), range.min(), capacity, "the capacity")) {
            return;
        }
        if (standard != null) {
            atLeast(policy.child("default"), standard, range.min());
        }
        Quantity max = range.max();
        boolean hasMax =
                max != null
                        && Amounts.isKeptAndNotNegative(field.child("max"), max)
                        && atMost(field.child("max"), max, capacity, "the capacity")
                        && atLeast(field.child("max"), max, range.min());
        if (hasMax && standard != null) {
            atMost(policy.child("default"), standard, max, "validRange.max");
        }
        milli(policy, standard, range);
        if (range.step() != null) {
            steps(policy, capacity, standard, range, hasMax);
        }
    }

    private static void milli(Field policy, @Nullable Quantity standard, ValidRange range) {
        Field field = policy.child("validRange");
        if (Stream.of(range.min(), range.max(), range.step()).anyMatch(Amounts::isFraction)) {
            Amounts.isMilli(policy.child("default"), standard);
            Amounts.isMilli(field.child("min"), range.min());
            Amounts.isMilli(field.child("max"), range.max());
            Amounts.isMilli(field.child("step"), range.step());
        }
    }

    private static void steps(
            Field policy,
            Quantity capacity,
            @Nullable Quantity standard,
            ValidRange range,
            boolean hasMax) {
        Quantity step = range.step();
        Field field = policy.child("validRange").child("step");
        if (!Amounts.isKeptAndNotNegative(field, step)) {
            return;
        }
        if (step.amount().signum() == 0) {
            field.refuse("must be greater than 0", step);
            return;
        }
        if (range.min().amount().add(step.amount()).compareTo(capacity.amount()) > 0) {
            field.refuse(
                    "must with validRange.min, %s, be at most the capacity, %s"
                            .formatted(range.min(), capacity),
                    step);
        }
        if (standard != null && !Amounts.isSteps(range.min(), standard, step)) {
            policy.child("default").refuse(stepRule(range), standard);
        }
        if (hasMax && !Amounts.isSteps(range.min(), range.max(), step)) {
            policy.child("validRange").child("max").refuse(stepRule(range), range.max());
        }
    }

    private static String stepRule(ValidRange range) {
        return "must be validRange.min, %s, and some steps of %s"
                .formatted(range.min(), range.step());
    }

    private static boolean atMost(Field field, Quantity value, Quantity most, String what) {
        if (value.compareTo(most) > 0) {
            field.refuse("must be at most " + what + ", " + most, value);
            return false;
        }
        return true;
    }

    private static boolean atLeast(Field field, Quantity value, Quantity min) {
        if (value.compareTo(min) < 0) {
            field.refuse("must be at least validRange.min, " + min, value);
            return false;
        }
        return true;
    }
}
