// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

/** The driver's dependencies and public types, and the order of its classes. */
@AnalyzeClasses(packages = "io.dra4j.example", importOptions = ImportOption.DoNotIncludeTests.class)
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

    @ArchTest
    static void theRulesImportTheClasses(JavaClasses classes) {
        assertThat(classes.size()).isGreaterThanOrEqualTo(5);
    }

    @ArchTest
    static final ArchRule driversUseThePublicPackagesOfTheSdkOnly =
            classes()
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

    @ArchTest
    static final ArchRule picocliIsUsedInMainsAndOptionsOnly =
            noClasses()
                    .that()
                    .haveNameNotMatching(".*(Main|Options)(\\$.*)?")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("picocli..");

    @ArchTest
    static final ArchRule outermostClassesHaveNoCycles =
            slices().assignedFrom(OUTERMOST_CLASSES).should().beFreeOfCycles();

    /** The JVM starts the program; tests of the suite run the provider in their own process. */
    @ArchTest
    static final ArchRule onlyTheProgramAndTheProviderArePublic =
            classes()
                    .that()
                    .areTopLevelClasses()
                    .and()
                    .doNotHaveSimpleName("FakeDriverMain")
                    .and()
                    .doNotHaveSimpleName("FakeGpuProvider")
                    .should()
                    .notBePublic();
}
