// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static io.dra4j.runtime.Architecture.beFinalUnlessExtended;
import static io.dra4j.runtime.Architecture.notMentionInSignatures;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.testkit.ModuleRules;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The tables of the architecture, line by line, as far as sdk-runtime is concerned. */
@AnalyzeClasses(packages = "io.dra4j.runtime", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String R = "io.dra4j.runtime";
    private static final String I = R + ".internal";

    /** About two thirds of what each package held when the number was last set. */
    private static final Map<String, Integer> LEAST_CLASSES = Map.ofEntries(
            Map.entry(R, 5),
            Map.entry(I + ".driver", 10),
            Map.entry(I + ".publish", 10),
            Map.entry(I + ".publish.plan", 8),
            Map.entry(I + ".validate", 8),
            Map.entry(I + ".kubelet", 8),
            Map.entry(I + ".claim", 12),
            Map.entry(I + ".claim.allocation", 8),
            Map.entry(I + ".audit", 8),
            Map.entry(I + ".checkpoint", 8),
            Map.entry(I + ".pins", 3),
            Map.entry(I + ".policy", 8),
            Map.entry(I + ".cdi", 8),
            Map.entry(I + ".cluster", 20),
            Map.entry(I + ".health", 5),
            Map.entry(I + ".observe", 7),
            Map.entry(I + ".doctor", 6),
            Map.entry(I + ".measure", 2),
            Map.entry(I + ".pending", 2),
            Map.entry(I + ".http", 3),
            Map.entry(I + ".tls", 4),
            Map.entry(I + ".files", 1),
            Map.entry(I + ".admission", 6),
            Map.entry(I + ".strict", 2),
            Map.entry(I + ".status", 8));

    private static final String[] RUNTIME_LIBRARIES = {
        "io.grpc..",
        "com.google.protobuf..",
        "io.fabric8..",
        "io.micrometer..",
        "io.prometheus..",
        "com.fasterxml.jackson..",
        "com.sun.net.httpserver..",
        "ch.qos.logback.."
    };

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        ModuleRules.assertImported(classes, LEAST_CLASSES);
    }

    @ArchTest
    static final ArchRule onlyLibrariesOfTheTableAreUsed = classes()
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(RUNTIME_LIBRARIES)
                    .or(resideInAnyPackage(
                            "java..",
                            "javax.net..",
                            "io.dra4j.api..",
                            "io.dra4j.kubelet..",
                            "io.dra4j.rules",
                            "io.dra4j.doctor..",
                            R + "..",
                            "org.jspecify.annotations",
                            "org.slf4j..",
                            "picocli..")));

    @ArchTest
    static final ArchRule grpcIsAtHomeInKubelet = ModuleRules.areAtHomeIn(
            List.of(I + ".kubelet.."), "io.grpc..", "com.google.protobuf..", "io.dra4j.kubelet..");

    @ArchTest
    static final ArchRule fabric8IsAtHomeInCluster = ModuleRules.areAtHomeIn(List.of(I + ".cluster.."), "io.fabric8..");

    @ArchTest
    static final ArchRule metricsAreAtHomeInObserve =
            ModuleRules.areAtHomeIn(List.of(I + ".observe.."), "io.micrometer..", "io.prometheus..");

    @ArchTest
    static final ArchRule theHttpServerIsAtHomeInHttp =
            ModuleRules.areAtHomeIn(List.of(I + ".http.."), "com.sun.net.httpserver..");

    @ArchTest
    static final ArchRule theLogBackendIsAtHomeInDriverLogging = noClasses()
            .that()
            .doNotHaveFullyQualifiedName(I + ".driver.DriverLogging")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("ch.qos.logback..")
            .because("a host that brings its own backend must not need this one");

    /** The internal packages, and those that may use each; the public package is empty here. */
    private static final Map<String, List<String>> USERS = Map.ofEntries(
            Map.entry("driver", List.of("")),
            Map.entry("publish", List.of("driver")),
            Map.entry("publish.plan", List.of("", "publish", "doctor")),
            Map.entry("doctor", List.of("")),
            Map.entry("validate", List.of("", "publish", "publish.plan", "policy", "status")),
            Map.entry("kubelet", List.of("driver")),
            Map.entry("health", List.of("driver", "kubelet")),
            Map.entry("claim", List.of("", "driver", "kubelet", "admission", "measure", "audit")),
            Map.entry("measure", List.of("driver")),
            Map.entry("pending", List.of("driver")),
            Map.entry("audit", List.of("", "driver")),
            Map.entry("claim.allocation", List.of("", "claim", "admission", "audit")),
            Map.entry("policy", List.of("driver")),
            Map.entry("strict", List.of("claim.allocation", "policy")),
            Map.entry("status", List.of("driver", "claim")),
            Map.entry("checkpoint", List.of("driver", "claim", "claim.allocation", "doctor", "audit")),
            Map.entry("pins", List.of("driver", "publish", "claim", "claim.allocation")),
            Map.entry("cdi", List.of("driver", "claim", "audit")),
            Map.entry("admission", List.of("")),
            Map.entry("http", List.of("observe", "admission")),
            Map.entry("tls", List.of("", "admission", "cluster")),
            Map.entry("files", List.of("cluster", "policy")),
            Map.entry(
                    "cluster",
                    List.of(
                            "",
                            "driver",
                            "doctor",
                            "publish",
                            "publish.plan",
                            "validate",
                            "claim",
                            "claim.allocation",
                            "pins",
                            "policy",
                            "status",
                            "admission",
                            "pending",
                            "audit")));

    @ArchTest
    static void claimsFlowInOneDirection(JavaClasses classes) {
        USERS.forEach((used, users) -> noClasses()
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
    static final ArchRule observeIsALeafButForItsPages = leaf("observe", "http");

    @ArchTest
    static final ArchRule httpIsALeaf = leaf("http");

    private static ArchRule leaf(String name, String... used) {
        return noClasses()
                .that()
                .resideInAPackage(I + "." + name)
                .should()
                .dependOnClassesThat(
                        resideInAPackage("io.dra4j..").and(not(resideInAnyPackage(packages(name, List.of(used))))));
    }

    @ArchTest
    static final ArchRule internalsNeverLeak =
            classes().that().resideInAPackage(R).should(notMentionInSignatures(resideInAPackage(I + "..")));

    @ArchTest
    static final ArchRule foreignTypesStayOutOfSignatures =
            classes().should(notMentionInSignatures(resideInAnyPackage(RUNTIME_LIBRARIES)));

    @ArchTest
    static final ArchRule publicInternalTypesAreUsedFromAnotherPackage =
            ModuleRules.publicTypesAreUsedFromOtherPackages(resideInAPackage(R)
                    // the compiler puts the values in the place of its constants' names
                    .or(name(I + ".observe.LogField")));

    @ArchTest
    static final ArchRule programsAreAtHomeInDriver =
            classes().that().haveNameMatching(".*(Main|Options)").should().resideInAnyPackage(R, I + ".driver");

    @ArchTest
    static final ArchRule classesAreFinalUnlessExtended = classes().should(beFinalUnlessExtended());

    @ArchTest
    static final ArchRule namesSayWhatTheThingIs = noClasses()
            .should()
            .haveSimpleNameEndingWith("Impl")
            .orShould()
            .haveNameMatching(".*(Manager|Helper|Handler|Utils?|Common)")
            .orShould()
            .resideInAnyPackage("..util..", "..common..", "..impl..", "..helper..");
}
