// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.testkit.ModuleRules;
import java.util.Map;

/** The tables of the architecture, line by line, as far as the tests of providers are concerned. */
@AnalyzeClasses(packages = "io.dra4j.test", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        ModuleRules.assertImported(classes, Map.of("io.dra4j.test", 5));
    }

    @ArchTest
    static final ArchRule theRuntimeIsUsedAsAVendorUsesIt = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.dra4j.test",
                    "io.dra4j.api..",
                    "io.dra4j.runtime",
                    "io.dra4j.rules", // releases and gates, of which the test kit's servers are made
                    "io.dra4j.testkit..",
                    "java..",
                    "com.fasterxml.jackson..",
                    "org.jspecify.annotations",
                    "org.junit.jupiter.api..");
}
