// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.ModuleRules;
import java.util.List;
import java.util.Map;

/** The tables of the architecture, line by line, as far as the suite is concerned. */
@AnalyzeClasses(packages = "io.dra4j.conformance", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String C = "io.dra4j.conformance";

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    /** About two thirds of what each package held when the number was last set. */
    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        ModuleRules.assertImported(
                classes, Map.of(C + ".play", 14, C + ".context", 14, C + ".run", 12, C + ".report", 12));
    }

    @ArchTest
    static final ArchRule driversOfAnyLanguageAreTested = noClasses()
            .that()
            .resideOutsideOfPackage(C + ".inprocess..")
            .and()
            .doNotHaveSimpleName("DraConformance")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.dra4j.runtime..", "io.dra4j.api..", "io.dra4j.example..");

    @ArchTest
    static final ArchRule transportsAreAtHomeInTheTestKit = ModuleRules.areAtHomeIn(
            List.of(),
            "io.grpc..",
            "io.netty..",
            "com.google.protobuf..",
            "io.kubernetes..",
            "io.fabric8..",
            "org.eclipse.jetty..",
            "io.dra4j.testkit.stubs..");

    @ArchTest
    static final ArchRule expressionsAreAtHomeInClaims =
            ModuleRules.areAtHomeIn(List.of(C + ".claims.."), "io.dra4j.allocator..");

    @ArchTest
    static final ArchRule theAllocatorKnowsTheLibraryOfExpressions = ModuleRules.areAtHomeIn(List.of(), "dev.cel..");

    @ArchTest
    static final ArchRule publicTypesAreUsedFromOtherPackages =
            ModuleRules.publicTypesAreUsedFromOtherPackages(resideInAPackage(C));

    @ArchTest
    static final ArchRule commandsAreNotUsedByOtherPackages = ModuleRules.areAtHomeIn(List.of(C), C);

    /** A condition without its message would check nothing. */
    @ArchTest
    static void everyConditionOfARuleThrows(JavaClasses classes) {
        assertThat(classes)
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
