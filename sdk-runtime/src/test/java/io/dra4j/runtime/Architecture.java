// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Conditions of {@link ArchitectureTest} that ArchUnit does not have. */
final class Architecture {

    private Architecture() {}

    /** The visible members of a public type mention no such type, not even as a type argument. */
    static ArchCondition<JavaClass> notMentionInSignatures(DescribedPredicate<? super JavaClass> banned) {
        return new ArchCondition<>("not mention in signatures " + banned.getDescription()) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                if (!isVisible(type)) {
                    return;
                }
                signatures(type)
                        .forEach((member, mentioned) -> mentioned.stream()
                                .filter(banned)
                                .map(bad -> member + " mentions " + bad.getName())
                                .map(text -> SimpleConditionEvent.violated(type, text))
                                .forEach(events::add));
            }
        };
    }

    /** A class is final, abstract or sealed, unless another one of the module extends it. */
    static ArchCondition<JavaClass> beFinalUnlessExtended() {
        return new ArchCondition<>("be final, or abstract, or extended") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Set<JavaModifier> modifiers = type.getModifiers();
                boolean open = !type.isInterface()
                        && !type.isEnum()
                        && !type.isAnonymousClass()
                        && !modifiers.contains(JavaModifier.FINAL)
                        && !modifiers.contains(JavaModifier.ABSTRACT);
                if (open && type.getSubclasses().isEmpty()) {
                    events.add(SimpleConditionEvent.violated(type, type.getName() + " is not final"));
                }
            }
        };
    }

    private static Map<String, Set<JavaClass>> signatures(JavaClass type) {
        Map<String, Set<JavaClass>> signatures = new TreeMap<>();
        for (JavaCodeUnit unit : type.getCodeUnits()) {
            if (isVisible(unit.getModifiers()) && !isBridge(unit.getModifiers())) {
                Set<JavaClass> mentioned = new HashSet<>(unit.getReturnType().getAllInvolvedRawTypes());
                unit.getParameterTypes().stream()
                        .map(JavaType::getAllInvolvedRawTypes)
                        .forEach(mentioned::addAll);
                mentioned.addAll(unit.getExceptionTypes());
                signatures.put(unit.getFullName(), mentioned);
            }
        }
        for (JavaField field : type.getFields()) {
            if (isVisible(field.getModifiers())) {
                signatures.put(field.getFullName(), field.getType().getAllInvolvedRawTypes());
            }
        }
        Set<JavaClass> supertypes = new HashSet<>(type.getRawInterfaces());
        type.getRawSuperclass().ifPresent(supertypes::add);
        signatures.put(type.getName(), supertypes);
        return signatures;
    }

    private static boolean isVisible(JavaClass type) {
        return isVisible(type.getModifiers())
                && type.getEnclosingClass().map(Architecture::isVisible).orElse(true);
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static boolean isBridge(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.BRIDGE) || modifiers.contains(JavaModifier.SYNTHETIC);
    }
}
