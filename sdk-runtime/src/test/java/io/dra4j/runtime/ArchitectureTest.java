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

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.dra4j.testkit.ModuleRules;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The tables of the architecture, line by line, as far as sdk-runtime is concerned. */
@AnalyzeClasses(packages = "io.dra4j.runtime", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String R = "io.dra4j.runtime";
    private static final String I = R + ".internal";

    /** A row of the table: how many classes are seen at least, and which packages may use it; none for all. */
    record PackageRule(int leastClasses, List<String> users) {}

    private static final Path FILE = Path.of("src/test/resources/io/dra4j/runtime/packages.yaml");
    private static final Map<String, PackageRule> PACKAGES = packages();

    private static Map<String, PackageRule> packages() {
        try {
            return new YAMLMapper().readValue(Files.readString(FILE), new TypeReference<>() {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

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
        Map<String, Integer> least = new HashMap<>();
        PACKAGES.forEach((name, rule) -> least.put(packageOf(name), rule.leastClasses()));
        ModuleRules.assertImported(classes, least);
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

    @ArchTest
    static void claimsFlowInOneDirection(JavaClasses classes) {
        PACKAGES.forEach((used, rule) -> {
            if (!rule.users().isEmpty()) {
                noClasses()
                        .that()
                        .resideOutsideOfPackages(packages(used, rule.users()))
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage(packageOf(used))
                        .check(classes);
            }
        });
    }

    private static String[] packages(String used, List<String> users) {
        return Stream.concat(Stream.of(used), users.stream())
                .map(ArchitectureTest::packageOf)
                .toArray(String[]::new);
    }

    private static String packageOf(String name) {
        return name.startsWith("runtime") ? "io.dra4j." + name : I + "." + name;
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
    static final ArchRule internalsNeverLeak = classes()
            .that()
            .resideOutsideOfPackage(I + "..")
            .should(notMentionInSignatures(resideInAPackage(I + "..")));

    @ArchTest
    static final ArchRule foreignTypesStayOutOfSignatures =
            classes().should(notMentionInSignatures(resideInAnyPackage(RUNTIME_LIBRARIES)));

    @ArchTest
    static final ArchRule publicInternalTypesAreUsedFromAnotherPackage =
            ModuleRules.publicTypesAreUsedFromOtherPackages(resideInAnyPackage(R, R + ".takeover")
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
