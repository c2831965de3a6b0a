// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The rules stand alone: publisher, embedded API server and suite are all to use them. */
@AnalyzeClasses(packages = "io.dra4j", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(classes.size()).isGreaterThan(16);
    }

    @ArchTest
    static final ArchRule onlyJsonTreesAreKnown = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.dra4j.rules",
                    "java..",
                    "com.fasterxml.jackson.databind..",
                    "com.fasterxml.jackson.core..",
                    "org.jspecify..");
}
