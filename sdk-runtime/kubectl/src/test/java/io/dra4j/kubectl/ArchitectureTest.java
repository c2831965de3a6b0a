// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.testkit.ModuleRules;

/** The plugin knows the allocator and a client, and no driver. */
@AnalyzeClasses(packages = "io.dra4j.kubectl", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(classes.size()).isGreaterThan(15);
    }

    @ArchTest
    static final ArchRule noDriverIsKnown = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.dra4j.runtime..", "io.dra4j.api..", "io.dra4j.testkit..");

    @ArchTest
    static final ArchRule theClientIsAtHomeInRead = classes()
            .that()
            .resideOutsideOfPackage("io.dra4j.kubectl.read")
            .should()
            .onlyDependOnClassesThat()
            .resideOutsideOfPackage("io.fabric8..");
}
