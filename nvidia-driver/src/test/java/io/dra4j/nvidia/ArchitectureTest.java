// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

/** The driver's dependencies, and the order of its packages and classes. */
@AnalyzeClasses(packages = "io.dra4j.nvidia", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final SliceAssignment OUTERMOST_CLASSES =
            new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                    return SliceIdentifier.of(type.getName().replaceFirst("\\$.*", ""));
                }

                @Override
                public String getDescription() {
                    return "outermost classes";
                }
            };

    private static final ArchCondition<JavaClass> BE_USED_FROM_ANOTHER_PACKAGE =
            ArchCondition.from(
                    DescribedPredicate.describe(
                            "be used from another package",
                            type ->
                                    type.getDirectDependenciesToSelf().stream()
                                            .map(use -> use.getOriginClass().getPackageName())
                                            .anyMatch(
                                                    user -> !user.equals(type.getPackageName()))));

    @ArchTest
    static void theRulesImportTheClasses(JavaClasses classes) {
        assertThat(classes.size()).isGreaterThanOrEqualTo(60);
    }

    @ArchTest
    static final ArchRule driversUseThePublicPackagesOfTheSdkOnly =
            classes()
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "io.dra4j.nvidia..",
                            "io.dra4j.api..",
                            "io.dra4j.runtime",
                            "java..",
                            "org.jspecify.annotations",
                            "org.slf4j..",
                            "picocli..",
                            "com.fasterxml.jackson..",
                            "com.sun.jna..");

    @ArchTest
    static final ArchRule picocliIsUsedInMainsAndOptionsOnly =
            noClasses()
                    .that()
                    .haveNameNotMatching(".*(Main|Options)(\\$.*)?")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("picocli..");

    @ArchTest
    static final ArchRule jacksonIsUsedForStateAndInTheProbeOnly =
            noClasses()
                    .that()
                    .resideOutsideOfPackages("io.dra4j.nvidia.mig", "io.dra4j.nvidia.health")
                    .and()
                    .haveNameNotMatching(".*ProbeReport")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("com.fasterxml.jackson..");

    @ArchTest
    static final ArchRule jnaIsUsedInNvmlOnly =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("io.dra4j.nvidia.nvml")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("com.sun.jna..");

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("(io.dra4j.nvidia..)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule outermostClassesHaveNoCycles =
            slices().assignedFrom(OUTERMOST_CLASSES).should().beFreeOfCycles();

    @ArchTest
    static final ArchRule publicTypesAreUsedFromAnotherPackage =
            classes()
                    .that()
                    .arePublic()
                    .and()
                    .areTopLevelClasses()
                    .and()
                    .doNotHaveSimpleName("NvidiaDriverMain") // which the JVM starts
                    .should(BE_USED_FROM_ANOTHER_PACKAGE);
}
