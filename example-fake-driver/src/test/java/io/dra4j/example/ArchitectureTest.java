// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.testkit.ModuleRules;

/** The driver's dependencies and public types. */
@AnalyzeClasses(packages = "io.dra4j.example", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    @ArchTest
    static final ArchRule driversUseThePublicPackagesOfTheSdkOnly = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.dra4j.example..",
                    "io.dra4j.api..",
                    "io.dra4j.runtime",
                    "java..",
                    "org.jspecify.annotations",
                    "org.slf4j..",
                    "picocli..");

    /** The JVM starts the programs; tests of the suite run the provider in their own process. */
    @ArchTest
    static final ArchRule onlyTheProgramsAndTheProviderArePublic = ModuleRules.publicTypesAreUsedFromOtherPackages(
            simpleName("FakeDriverMain").or(simpleName("ControllerMain")).or(simpleName("FakeGpuProvider")));
}
