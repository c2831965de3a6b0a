// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaModifier.ABSTRACT;
import static com.tngtech.archunit.core.domain.JavaModifier.FINAL;
import static com.tngtech.archunit.core.domain.JavaModifier.PRIVATE;
import static com.tngtech.archunit.core.domain.JavaModifier.PROTECTED;
import static com.tngtech.archunit.core.domain.JavaModifier.PUBLIC;
import static com.tngtech.archunit.core.domain.JavaModifier.SYNTHETIC;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.conformance.context.Violation;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The rules of the table of modules for classes, and those that only one module has. */
class ArchitectureTest {

    private static final Map<String, JavaClasses> CLASSES = Module.ALL.keySet().stream()
            .filter(folder -> !Module.ALL.get(folder).top().isEmpty())
            .collect(Collectors.toMap(Function.identity(), Module::classesOf));

    private static final String R = "io.dra4j.runtime";
    private static final String API = "io.dra4j.api";

    static Stream<Arguments> rules() {
        return CLASSES.keySet().stream()
                .flatMap(folder -> Module.ALL.get(folder).rules().map(rule -> arguments(folder, rule)));
    }

    static Stream<Arguments> names() {
        return CLASSES.keySet().stream()
                .flatMap(folder -> Stream.concat(
                                Stream.of(".."), Module.ALL.get(folder).ownNames())
                        .map(name -> arguments(folder, name)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("rules")
    void aModuleKeepsTheRule(String folder, ArchRule rule) {
        rule.allowEmptyShould(true).check(CLASSES.get(folder));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("names")
    void aNameOfTheTableHasClasses(String folder, String name) {
        assertThat(CLASSES.get(folder).stream().filter(Module.ALL.get(folder).in(Set.of(name))))
                .isNotEmpty();
    }

    static Stream<ArchRule> rulesOfTheApi() {
        DescribedPredicate<JavaClass> notBuilders =
                describe("not builders", type -> !type.getSimpleName().equals("Builder"));
        return Stream.of(
                fields().that()
                        .areDeclaredInClassesThat(are(notBuilders))
                        .should()
                        .beFinal(),
                classes()
                        .that()
                        .resideOutsideOfPackages(API, API + ".error")
                        .and()
                        .arePublic()
                        .and(are(notBuilders))
                        .should()
                        .beRecords()
                        .orShould()
                        .beEnums()
                        .orShould()
                        .beInterfaces()
                        .orShould(be(describe("final holders, or with a builder", ArchitectureTest::isHolderOrBuilt))));
    }

    private static boolean isHolderOrBuilt(JavaClass type) {
        return type.getModifiers().contains(FINAL)
                && (type.getMethods().isEmpty()
                        || type.tryGetMethod("toBuilder").isPresent())
                && type.getConstructors().stream()
                        .allMatch(made -> made.getModifiers().contains(PRIVATE));
    }

    @ParameterizedTest
    @MethodSource
    void rulesOfTheApi(ArchRule rule) {
        rule.check(CLASSES.get("sdk-api"));
    }

    @Test
    void theApiExportsEveryPackage() {
        assertThat(ModuleFinder.of(Module.ROOT.resolve("sdk-api/target/classes"))
                        .find(API)
                        .orElseThrow()
                        .descriptor()
                        .exports())
                .extracting(ModuleDescriptor.Exports::source)
                .containsExactlyInAnyOrderElementsOf(CLASSES.get("sdk-api").stream()
                        .map(JavaClass::getPackageName)
                        .collect(Collectors.toSet()));
    }

    static Stream<ArchRule> rulesOfTheRuntime() {
        String internal = R + ".internal";
        DescribedPredicate<JavaClass> libraries = resideInAnyPackage(
                "io.grpc..",
                "com.google.protobuf..",
                "io.fabric8..",
                "io.micrometer..",
                "io.prometheus..",
                "com.fasterxml.jackson..",
                "com.sun.net.httpserver..",
                "ch.qos.logback..");
        return Stream.of(
                noClasses().should(be(mentioning(libraries))),
                noClasses()
                        .that()
                        .resideOutsideOfPackage(internal + "..")
                        .should(be(mentioning(resideInAPackage(internal + "..")))),
                classes()
                        .that()
                        .haveNameMatching(".*(Main|Options)")
                        .should()
                        .resideInAnyPackage(R, internal + ".driver"),
                noClasses().should(be(describe("open without a subclass", ArchitectureTest::isOpen))),
                noClasses()
                        .should()
                        .haveNameMatching(".*(Impl|Manager|Helper|Handler|Utils?|Common)")
                        .orShould()
                        .resideInAnyPackage("..util..", "..common..", "..impl..", "..helper.."));
    }

    @ParameterizedTest
    @MethodSource
    void rulesOfTheRuntime(ArchRule rule) {
        rule.check(CLASSES.get("sdk-runtime"));
    }

    /** Visible types whose visible members or supertypes have such a type, even if only as a type argument. */
    private static DescribedPredicate<JavaClass> mentioning(DescribedPredicate<JavaClass> banned) {
        return describe(
                "visible and mentioning types that " + banned.getDescription(),
                type -> isVisible(type)
                        && Stream.of(
                                        type.getMembers().stream()
                                                .filter(member -> isVisible(member.getModifiers()))
                                                .flatMap(member -> member.getAllInvolvedRawTypes().stream()),
                                        type.getCodeUnits().stream()
                                                .filter(unit -> isVisible(unit.getModifiers()))
                                                .flatMap(unit -> unit.getExceptionTypes().stream()),
                                        type.getRawInterfaces().stream(),
                                        type.getRawSuperclass().stream())
                                .flatMap(mentioned -> mentioned)
                                .anyMatch(banned));
    }

    private static boolean isVisible(JavaClass type) {
        return isVisible(type.getModifiers())
                && type.getEnclosingClass().map(ArchitectureTest::isVisible).orElse(true);
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return (modifiers.contains(PUBLIC) || modifiers.contains(PROTECTED)) && !modifiers.contains(SYNTHETIC);
    }

    private static boolean isOpen(JavaClass type) {
        return !type.isInterface()
                && !type.isEnum()
                && !type.isAnonymousClass()
                && !type.getModifiers().contains(FINAL)
                && !type.getModifiers().contains(ABSTRACT)
                && type.getSubclasses().isEmpty();
    }

    /** A condition of the suite without its message would check nothing. */
    @Test
    void everyConditionOfARuleThrows() {
        assertThat(CLASSES.get("conformance-tests/suite"))
                .allSatisfy(type -> assertThat(calls(type, Violation.class, ".*nless"))
                        .as(type.getName())
                        .isEqualTo(calls(type, Violation.Condition.class, "because")));
    }

    private static long calls(JavaClass from, Class<?> to, String method) {
        return from.getMethodCallsFromSelf().stream()
                .filter(call -> call.getTargetOwner().isEquivalentTo(to))
                .filter(call -> call.getName().matches(method))
                .count();
    }
}
