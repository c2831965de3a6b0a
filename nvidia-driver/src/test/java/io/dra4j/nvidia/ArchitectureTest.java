// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What a driver needs of the SDK, and where picocli and JNA are at home. */
@AnalyzeClasses(packages = "io.dra4j.nvidia", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(classes.size()).isGreaterThanOrEqualTo(60);
    }

    @ArchTest
    static final ArchRule aDriverNeedsTheDoorsOfTheSdkAlone =
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
    static final ArchRule picocliIsAtHomeInMainsAndOptions =
            noClasses()
                    .that()
                    .haveNameNotMatching(".*(Main|Options)(\\$.*)?")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("picocli..");

    @ArchTest
    static final ArchRule jacksonIsAtHomeWhereSomethingIsKeptAndInTheProbe =
            noClasses()
                    .that()
                    .resideOutsideOfPackages("io.dra4j.nvidia.mig", "io.dra4j.nvidia.health")
                    .and()
                    .haveNameNotMatching(".*ProbeReport")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("com.fasterxml.jackson..");

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("io.dra4j.nvidia.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule jnaIsAtHomeInNvmlJna =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("io.dra4j.nvidia.nvml.jna")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("com.sun.jna..");

    @ArchTest
    static final ArchRule theBindingIsKnownToNvmlAlone =
            noClasses()
                    .that()
                    .resideOutsideOfPackages("io.dra4j.nvidia.nvml", "io.dra4j.nvidia.nvml.jna")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("io.dra4j.nvidia.nvml.jna");
}
