// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaModifier.FINAL;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** The tables of the architecture, line by line, as far as sdk-api is concerned. */
@AnalyzeClasses(packages = "io.dra4j.api", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String API = "io.dra4j.api";

    /** About two thirds of what each package held when the number was last set. */
    private static final Map<String, Integer> LEAST_CLASSES = Map.of(
            API,
            3,
            API + ".claim",
            12,
            API + ".container",
            6,
            API + ".device",
            24,
            API + ".error",
            2,
            API + ".health",
            2,
            API + ".metrics",
            3);

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(LEAST_CLASSES)
                .allSatisfy((name, least) -> assertThat(classes.getPackage(name).getClasses())
                        .as(name)
                        .hasSizeGreaterThanOrEqualTo(least));
    }

    @ArchTest
    static final ArchRule apiStandsAlone = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(API + "..", "java..", "org.jspecify.annotations");

    @ArchTest
    static final ArchRule valuesDoNotKnowTheSpi = noClasses()
            .that()
            .resideOutsideOfPackage(API)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(API);

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching(API + ".(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule errorsAreALeaf = classes()
            .that()
            .resideInAPackage(API + ".error")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(API + ".error", "java..", "org.jspecify.annotations");

    @ArchTest
    static final ArchRule valuesAreRecordsOrEnumsOrSealedOrHaveABuilder = classes()
            .that()
            .resideOutsideOfPackages(API, API + ".error")
            .and()
            .arePublic()
            .and(are(notNamedBuilder()))
            .should()
            .beRecords()
            .orShould()
            .beEnums()
            .orShould()
            .beInterfaces()
            .orShould(be(describe("holders of constants", ArchitectureTest::isHolder)))
            .orShould(be(describe("final with a builder", ArchitectureTest::isBuilt)));

    @ArchTest
    static final ArchRule fieldsAreFinalExceptInBuilders =
            fields().that().areDeclaredInClassesThat(notNamedBuilder()).should().beFinal();

    @ArchTest
    static void packagesAreNullMarkedAndDescribed(JavaClasses classes) {
        assertThat(packages(classes))
                .filteredOn(found -> !found.isAnnotatedWith(NullMarked.class))
                .extracting(JavaPackage::getName)
                .isEmpty();
    }

    @ArchTest
    static void theModuleExportsEveryPackage(JavaClasses classes) throws URISyntaxException {
        URL output = DeviceProvider.class.getProtectionDomain().getCodeSource().getLocation();
        ModuleReference module =
                ModuleFinder.of(Path.of(output.toURI())).find("io.dra4j.api").orElseThrow();

        assertThat(module.descriptor().exports())
                .extracting(ModuleDescriptor.Exports::source)
                .containsExactlyInAnyOrderElementsOf(
                        packages(classes).stream().map(JavaPackage::getName).toList());
    }

    private static List<JavaPackage> packages(JavaClasses classes) {
        JavaPackage top = classes.getPackage(API);
        return Stream.concat(Stream.of(top), top.getSubpackagesInTree().stream())
                .filter(found -> !found.getClasses().isEmpty())
                .toList();
    }

    private static DescribedPredicate<JavaClass> notNamedBuilder() {
        return describe("not builders", type -> !type.getSimpleName().equals("Builder"));
    }

    private static boolean isBuilt(JavaClass type) {
        return type.getModifiers().contains(FINAL)
                && type.tryGetMethod("toBuilder").isPresent()
                && type.getConstructors().stream()
                        .allMatch(made -> made.getModifiers().contains(JavaModifier.PRIVATE));
    }

    private static boolean isHolder(JavaClass type) {
        return type.getModifiers().contains(FINAL)
                && type.getMethods().isEmpty()
                && type.getConstructors().stream()
                        .map(JavaConstructor::getModifiers)
                        .allMatch(modifiers -> modifiers.contains(JavaModifier.PRIVATE));
    }
}
