// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.TestContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All rules that are code, by the ids of their requirements. */
public final class RuleBook {

    private static final List<Class<?>> AREAS = List.of(
            RegistrationRules.class,
            PrepareRules.class,
            RefusedClaimRules.class,
            CdiSpecRules.class,
            SliceRules.class,
            SliceRepairRules.class,
            SliceChangeRules.class,
            HealthRules.class,
            TaintRules.class,
            StatusRules.class,
            FaultRules.class,
            ConnectionRules.class,
            SocketRules.class,
            OpaqueConfigRules.class,
            ShareRules.class,
            RestartRules.class,
            IdentityRules.class,
            ShutdownRules.class,
            UpgradeRules.class,
            SecurityRules.class,
            WireRules.class,
            PerformanceRules.class);

    private final Map<String, Method> rules = new LinkedHashMap<>();

    public RuleBook() {
        for (Class<?> area : AREAS) {
            for (Method method : area.getDeclaredMethods()) {
                Rule rule = method.getAnnotation(Rule.class);
                if (rule != null && rules.put(rule.value(), method) != null) {
                    throw new IllegalStateException(rule.value() + " has two rules");
                }
            }
        }
    }

    public Set<String> ids() {
        return Collections.unmodifiableSet(rules.keySet());
    }

    /** The execution group in which a requirement is checked; empty if it has no rule. */
    public Optional<ExecutionGroup> group(String id) {
        return Optional.ofNullable(rules.get(id)).map(RuleBook::group);
    }

    public boolean triesUnregistered(String id) {
        return Optional.ofNullable(rules.get(id))
                .map(method -> method.getAnnotation(Rule.class).unregistered())
                .orElse(false);
    }

    private static ExecutionGroup group(Method method) {
        ExecutionGroup.@Nullable On own = method.getAnnotation(ExecutionGroup.On.class);
        ExecutionGroup.On group = own == null ? method.getDeclaringClass().getAnnotation(ExecutionGroup.On.class) : own;
        if (group == null) {
            throw new IllegalStateException(method.getDeclaringClass() + " has no execution group");
        }
        return group.value();
    }

    /** Tries a requirement on a test context; throws what the rule throws. */
    public void run(String id, TestContext context) throws Exception {
        Method method = Optional.ofNullable(rules.get(id)).orElseThrow();
        try {
            Object area = method.getDeclaringClass()
                    .getDeclaredConstructor(TestContext.class)
                    .newInstance(context);
            method.invoke(area);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw e;
        }
    }
}
