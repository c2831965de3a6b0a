// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.testkit.ModuleRules;

/** The checks know neither a client nor a driver, so that any program can run them. */
@AnalyzeClasses(packages = "io.dra4j.doctor", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(classes.size()).isGreaterThan(25);
    }

    @ArchTest
    static final ArchRule onlyJsonTreesAndRulesAreKnown = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.dra4j.doctor..",
                    "io.dra4j.rules",
                    "java..",
                    "com.fasterxml.jackson.databind..",
                    "com.fasterxml.jackson.core..",
                    "com.fasterxml.jackson.dataformat.yaml..",
                    "org.jspecify..");
}
