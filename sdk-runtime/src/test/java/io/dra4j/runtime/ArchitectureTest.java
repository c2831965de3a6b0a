// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static io.dra4j.runtime.Architecture.beFinalUnlessExtended;
import static io.dra4j.runtime.Architecture.beUsedFromAnotherPackage;
import static io.dra4j.runtime.Architecture.notMentionInSignatures;
import static io.dra4j.runtime.Architecture.packagesWithoutNullMarked;
import static io.dra4j.runtime.Architecture.programs;
import static io.dra4j.runtime.Architecture.topLevelClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.GeneralCodingRules;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The tables of the architecture, line by line, as far as sdk-runtime is concerned. */
@AnalyzeClasses(packages = "io.dra4j.runtime", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String R = "io.dra4j.runtime";
    private static final String I = R + ".internal";

    /** About two thirds of what each package held when the number was last set. */
    private static final Map<String, Integer> LEAST_CLASSES =
            Map.ofEntries(
                    Map.entry(R, 5),
                    Map.entry(I + ".driver", 10),
                    Map.entry(I + ".publish", 10),
                    Map.entry(I + ".publish.plan", 8),
                    Map.entry(I + ".validate", 12),
                    Map.entry(I + ".kubelet", 8),
                    Map.entry(I + ".claim", 12),
                    Map.entry(I + ".claim.allocation", 8),
                    Map.entry(I + ".checkpoint", 8),
                    Map.entry(I + ".cdi", 8),
                    Map.entry(I + ".cluster", 20),
                    Map.entry(I + ".health", 5),
                    Map.entry(I + ".observe", 8),
                    Map.entry(I + ".status", 8));

    private static final String[] RUNTIME_LIBRARIES = {
        "io.grpc..",
        "com.google.protobuf..",
        "io.netty..",
        "io.fabric8..",
        "io.micrometer..",
        "com.fasterxml.jackson..",
        "com.sun.net.httpserver..",
        "ch.qos.logback.."
    };

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
    static final ArchRule onlyLibrariesOfTheTableAreUsed =
            classes()
                    .should()
                    .onlyDependOnClassesThat(
                            resideInAnyPackage(RUNTIME_LIBRARIES)
                                    .or(
                                            resideInAnyPackage(
                                                    "java..",
                                                    "io.dra4j.api..",
                                                    "io.dra4j.kubelet..",
                                                    R + "..",
                                                    "org.jspecify.annotations",
                                                    "org.slf4j..",
                                                    "picocli..")));

    @ArchTest
    static final ArchRule grpcIsAtHomeInKubelet =
            library(
                    I + ".kubelet..",
                    "io.grpc..",
                    "com.google.protobuf..",
                    "io.netty..",
                    "io.dra4j.kubelet..");

    @ArchTest
    static final ArchRule fabric8IsAtHomeInCluster = library(I + ".cluster..", "io.fabric8..");

    @ArchTest
    static final ArchRule metricsAndHttpAreAtHomeInObserve =
            library(I + ".observe..", "io.micrometer..", "com.sun.net.httpserver..");

    @ArchTest
    static final ArchRule picocliIsAtHomeInMainsAndOptions =
            noClasses()
                    .that(not(programs()))
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("picocli..");

    @ArchTest
    static final ArchRule theLogBackendIsAtHomeInDriverLogging =
            noClasses()
                    .that()
                    .doNotHaveFullyQualifiedName(I + ".driver.DriverLogging")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("ch.qos.logback..")
                    .because("a host that brings its own backend must not need this one");

    /** The internal packages, and those that may use each; the public package is empty here. */
    private static final Map<String, List<String>> USERS =
            Map.ofEntries(
                    Map.entry("driver", List.of("")),
                    Map.entry("publish", List.of("driver")),
                    Map.entry("publish.plan", List.of("", "publish")),
                    Map.entry("validate", List.of("publish", "publish.plan")),
                    Map.entry("kubelet", List.of("driver")),
                    Map.entry("health", List.of("driver", "kubelet")),
                    Map.entry("claim", List.of("driver", "kubelet")),
                    Map.entry("claim.allocation", List.of("claim")),
                    Map.entry("status", List.of("driver", "claim")),
                    Map.entry("checkpoint", List.of("driver", "claim", "claim.allocation")),
                    Map.entry("cdi", List.of("driver", "claim")),
                    Map.entry(
                            "cluster",
                            List.of(
                                    "",
                                    "driver",
                                    "publish",
                                    "publish.plan",
                                    "claim",
                                    "claim.allocation",
                                    "status")));

    @ArchTest
    static void claimsFlowInOneDirection(JavaClasses classes) {
        USERS.forEach(
                (used, users) ->
                        noClasses()
                                .that()
                                .resideOutsideOfPackages(packages(used, users))
                                .should()
                                .dependOnClassesThat()
                                .resideInAPackage(I + "." + used)
                                .check(classes));
    }

    private static String[] packages(String used, List<String> users) {
        return Stream.concat(Stream.of(used), users.stream())
                .map(name -> name.isEmpty() ? R : I + "." + name)
                .toArray(String[]::new);
    }

    @ArchTest
    static final ArchRule internalPackagesHaveNoCycles =
            slices().matching(I + ".(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule observeIsALeaf =
            noClasses()
                    .that()
                    .resideInAPackage(I + ".observe..")
                    .should()
                    .dependOnClassesThat(
                            resideInAPackage("io.dra4j..")
                                    .and(not(resideInAPackage(I + ".observe.."))));

    @ArchTest
    static final ArchRule internalsNeverLeak =
            classes()
                    .that()
                    .resideInAPackage(R)
                    .should(notMentionInSignatures(resideInAPackage(I + "..")));

    @ArchTest
    static final ArchRule foreignTypesStayOutOfSignatures =
            classes().should(notMentionInSignatures(resideInAnyPackage(RUNTIME_LIBRARIES)));

    @ArchTest
    static final ArchRule classesHaveNoCycles =
            slices().assignedFrom(topLevelClasses()).should().beFreeOfCycles();

    @ArchTest
    static final ArchRule publicInternalTypesAreUsedFromAnotherPackage =
            classes()
                    .that()
                    .resideInAPackage(I + "..")
                    .and()
                    .arePublic()
                    .and()
                    .areTopLevelClasses()
                    .and()
                    // the compiler puts the values of its constants in the place of their names
                    .doNotHaveFullyQualifiedName(I + ".observe.LogField")
                    .should(beUsedFromAnotherPackage());

    @ArchTest
    static void packagesAreNullMarkedAndDescribed(JavaClasses classes) {
        assertThat(packagesWithoutNullMarked(classes, R)).isEmpty();
    }

    @ArchTest
    static final ArchRule classesAreFinalUnlessExtended = classes().should(beFinalUnlessExtended());

    @ArchTest
    static final ArchRule namesSayWhatTheThingIs =
            noClasses()
                    .should()
                    .haveSimpleNameEndingWith("Impl")
                    .orShould()
                    .haveNameMatching(".*(Manager|Helper|Handler|Utils?|Common)")
                    .orShould()
                    .resideInAnyPackage("..util..", "..common..", "..impl..", "..helper..");

    @ArchTest
    static final ArchRule nothingUsesTheJdksLogging = NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;

    @ArchTest
    static final ArchRule onlyProgramsUseTheStandardStreams =
            noClasses().that(not(programs())).should(GeneralCodingRules.ACCESS_STANDARD_STREAMS);

    private static ArchRule library(String home, String... libraries) {
        return noClasses()
                .that()
                .resideOutsideOfPackage(home)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(libraries);
    }
}
