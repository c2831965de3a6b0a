// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The dependencies of a driver on the SDK, and the use of picocli. */
@AnalyzeClasses(packages = "io.dra4j.example", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(classes.size()).isGreaterThanOrEqualTo(5);
    }

    @ArchTest
    static final ArchRule aDriverNeedsTheDoorsOfTheSdkAlone =
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
    static final ArchRule picocliIsAtHomeInMainsAndOptions =
            noClasses()
                    .that()
                    .haveNameNotMatching(".*(Main|Options)(\\$.*)?")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("picocli..");
}
