// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** The tables of the architecture, line by line, as far as the suite is concerned. */
@AnalyzeClasses(
        packages = "io.dra4j.conformance",
        importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String C = "io.dra4j.conformance";

    /** About two thirds of what each package held when the number was last set. */
    private static final Map<String, Integer> LEAST_CLASSES =
            Map.of(C + ".play", 14, C + ".context", 14, C + ".run", 12, C + ".report", 12);

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(LEAST_CLASSES)
                .allSatisfy(
                        (name, least) ->
                                assertThat(classes.getPackage(name).getClasses())
                                        .as(name)
                                        .hasSizeGreaterThanOrEqualTo(least));
    }

    @ArchTest
    static final ArchRule driversOfAnyLanguageAreTested =
            noClasses()
                    .that()
                    .resideOutsideOfPackage(C + ".inprocess..")
                    .and()
                    .doNotHaveSimpleName("DraConformance")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "io.dra4j.runtime..", "io.dra4j.api..", "io.dra4j.example..");

    @ArchTest
    static final ArchRule transportsAreAtHomeInTheTestKit =
            noClasses()
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "io.grpc..",
                            "io.netty..",
                            "com.google.protobuf..",
                            "io.kubernetes..",
                            "io.fabric8..",
                            "org.eclipse.jetty..",
                            "io.dra4j.testkit.stubs..");

    @ArchTest
    static final ArchRule expressionsAreAtHomeInClaims = library(C + ".claims..", "dev.cel..");

    @ArchTest
    static final ArchRule picocliIsAtHomeInMainsAndOptions =
            noClasses()
                    .that(not(programs()))
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("picocli..");

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching(C + ".(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule topLevelClassesHaveNoCycles =
            slices().assignedFrom(new TopLevelClasses()).should().beFreeOfCycles();

    @ArchTest
    static final ArchRule publicTypesAreUsedFromOtherPackages =
            classes()
                    .that()
                    .arePublic()
                    .and()
                    .areTopLevelClasses()
                    .and()
                    .resideOutsideOfPackage(C)
                    .should(beUsedFromAnotherPackage());

    @ArchTest
    static final ArchRule commandsAreNotUsedByOtherPackages =
            noClasses()
                    .that()
                    .resideOutsideOfPackage(C)
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage(C);

    @ArchTest
    static void packagesAreNullMarkedAndDescribed(JavaClasses classes) {
        JavaPackage top = classes.getPackage(C);
        assertThat(Stream.concat(Stream.of(top), top.getSubpackagesInTree().stream()))
                .filteredOn(found -> !found.getClasses().isEmpty())
                .filteredOn(found -> !found.isAnnotatedWith(NullMarked.class))
                .extracting(JavaPackage::getName)
                .isEmpty();
    }

    @ArchTest
    static final ArchRule noClassUsesTheJdksLogging = NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;

    @ArchTest
    static final ArchRule onlyProgramsUseTheStandardStreams =
            noClasses().that(not(programs())).should(ACCESS_STANDARD_STREAMS);

    private static ArchRule library(String home, String... libraries) {
        return noClasses()
                .that()
                .resideOutsideOfPackage(home)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(libraries);
    }

    private static DescribedPredicate<JavaClass> programs() {
        return describe(
                "*Main or *Options", type -> type.getName().matches(".*(Main|Options)(\\$.*)?"));
    }

    private static ArchCondition<JavaClass> beUsedFromAnotherPackage() {
        return new ArchCondition<>("be used from another package") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                boolean used =
                        type.getDirectDependenciesToSelf().stream()
                                .map(Dependency::getOriginClass)
                                .anyMatch(user -> !user.getPackage().equals(type.getPackage()));
                events.add(new SimpleConditionEvent(type, used, type.getName() + " is not"));
            }
        };
    }

    /** One slice a top-level class, nested classes included. */
    private static final class TopLevelClasses implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return SliceIdentifier.of(type.getFullName().split("\\$")[0]);
        }

        @Override
        public String getDescription() {
            return "top-level classes";
        }
    }
}
