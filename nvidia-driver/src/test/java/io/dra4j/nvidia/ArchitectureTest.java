// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.testkit.ModuleRules;
import java.util.List;
import java.util.Map;

/** The driver's dependencies, and the order of its packages and classes. */
@AnalyzeClasses(packages = "io.dra4j.nvidia", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    @ArchTest
    static void theRulesImportTheClasses(JavaClasses classes) {
        ModuleRules.assertImported(classes, Map.of("io.dra4j.nvidia..", 60));
    }

    @ArchTest
    static final ArchRule driversUseThePublicPackagesOfTheSdkOnly = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.dra4j.nvidia..",
                    "io.dra4j.api..",
                    "io.dra4j.runtime",
                    "io.dra4j.runtime.takeover",
                    "io.dra4j.doctor..",
                    "java..",
                    "org.jspecify.annotations",
                    "org.slf4j..",
                    "picocli..",
                    "com.fasterxml.jackson..",
                    "com.sun.jna..",
                    "io.micrometer.core.."); // the registry that providers count in, too

    @ArchTest
    static final ArchRule jacksonIsUsedForStateAndInTheProbeOnly = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "io.dra4j.nvidia.mig",
                    "io.dra4j.nvidia.state",
                    "io.dra4j.nvidia.takeover",
                    "io.dra4j.nvidia.health")
            .and()
            .haveNameNotMatching(".*ProbeReport")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.fasterxml.jackson..");

    @ArchTest
    static final ArchRule jnaIsUsedForNvidiasLibrariesOnly =
            ModuleRules.areAtHomeIn(List.of("io.dra4j.nvidia.nvml", "io.dra4j.nvidia.fabric"), "com.sun.jna..");

    /** The JVM starts the program. */
    @ArchTest
    static final ArchRule publicTypesAreUsedFromOtherPackages =
            ModuleRules.publicTypesAreUsedFromOtherPackages(simpleName("NvidiaDriverMain"));
}
