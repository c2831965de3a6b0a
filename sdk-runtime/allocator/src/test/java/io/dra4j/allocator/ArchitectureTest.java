// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The allocator is a leaf: it knows the rules, and neither a client nor a driver. */
@AnalyzeClasses(packages = "io.dra4j.allocator", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(classes.size()).isGreaterThan(60);
    }

    @ArchTest
    static final ArchRule rulesAndExpressionsAreKnown = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.dra4j.allocator..",
                    "io.dra4j.rules",
                    "java..",
                    "dev.cel..",
                    "com.google.common..",
                    "com.google.re2j..",
                    "com.fasterxml.jackson.databind..",
                    "com.fasterxml.jackson.core..",
                    "org.jspecify..");

    /** Objects are read first, expressions are evaluated on them, then claims are allocated. */
    @ArchTest
    static final ArchRule packagesAreInTheOrderOfTheFlow = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("explain")
            .definedBy("io.dra4j.allocator.explain")
            .layer("allocator")
            .definedBy("io.dra4j.allocator")
            .layer("cel")
            .definedBy("io.dra4j.allocator.cel")
            .layer("model")
            .definedBy("io.dra4j.allocator.model")
            .whereLayer("explain")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("allocator")
            .mayOnlyBeAccessedByLayers("explain")
            .whereLayer("cel")
            .mayOnlyBeAccessedByLayers("allocator")
            .whereLayer("model")
            .mayOnlyBeAccessedByLayers("cel", "allocator", "explain");

    @ArchTest
    static final ArchRule expressionsAreEvaluatedInOnePlace = noClasses()
            .that()
            .resideOutsideOfPackage("io.dra4j.allocator.cel")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.cel..");
}
