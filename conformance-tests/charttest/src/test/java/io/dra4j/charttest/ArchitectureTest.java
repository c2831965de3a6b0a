// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.dra4j.testkit.ModuleRules;
import java.util.Map;

@AnalyzeClasses(packages = "io.dra4j.charttest", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        ModuleRules.assertImported(classes, Map.of("io.dra4j.charttest", 9));
    }
}
