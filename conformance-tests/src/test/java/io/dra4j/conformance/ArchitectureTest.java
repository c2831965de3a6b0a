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
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** The tables of the architecture, line by line, as far as conformance-tests is concerned. */
@AnalyzeClasses(
        packages = "io.dra4j.conformance",
        importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String C = "io.dra4j.conformance";

    /** About two thirds of what each package held when the number was last set. */
    private static final Map<String, Integer> LEAST_CLASSES =
            Map.of(
                    C + ".apiserver",
                    70,
                    C + ".kubelet",
                    14,
                    C + ".play",
                    14,
                    C + ".proxy",
                    12,
                    C + ".protobuf",
                    8,
                    C + ".bench",
                    14,
                    C + ".run",
                    12,
                    C + ".report",
                    12);

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
                            "io.dra4j.runtime..", "io.dra4j.api..", "io.dra4j.example..")
                    .because("the suite knows the generated stubs of the kubelet's services alone");

    @ArchTest
    static final ArchRule grpcIsAtHomeInKubelet =
            library(C + ".kubelet..", "io.grpc..", "io.netty..", "io.dra4j.kubelet..");

    @ArchTest
    static final ArchRule protobufIsAtHomeInKubeletAndProtobuf =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(C + ".kubelet..", C + ".protobuf..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("com.google.protobuf..");

    @ArchTest
    static final ArchRule kubernetesMessagesAreAtHomeInProtobuf =
            library(C + ".protobuf..", "io.kubernetes..");

    @ArchTest
    static final ArchRule httpIsAtHomeInApiserverAndProxy =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(C + ".apiserver..", C + ".proxy..", C + ".http..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("org.eclipse.jetty..");

    @ArchTest
    static final ArchRule patchesAreAtHomeInApiserver =
            library(C + ".apiserver..", "io.fabric8.zjsonpatch..");

    @ArchTest
    static final ArchRule expressionsAreAtHomeInClaims = library(C + ".claims..", "dev.cel..");

    @ArchTest
    static final ArchRule kubeconfigsAreAtHomeInCluster =
            library(C + ".cluster..", "io.fabric8.kubernetes..");

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
    static final ArchRule kubeletAndProtobufStandAlone =
            classes()
                    .that()
                    .resideInAnyPackage(C + ".kubelet..", C + ".protobuf..", C + ".http..")
                    .should(onlyKnowTheirOwnPackageAnd());

    @ArchTest
    static final ArchRule apiserverAndProxyKnowTheWireFormatAlone =
            classes()
                    .that()
                    .resideInAnyPackage(C + ".apiserver..", C + ".proxy..")
                    .should(onlyKnowTheirOwnPackageAnd(C + ".protobuf", C + ".http", C + ".rbac"));

    @ArchTest
    static final ArchRule doorsAreKnownToNobody =
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
    static final ArchRule nobodyUsesTheJdksLogging = NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;

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

    private static ArchCondition<JavaClass> onlyKnowTheirOwnPackageAnd(String... others) {
        Set<String> known = Set.of(others);
        return new ArchCondition<>("know no other package of the suite but " + known) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                type.getDirectDependenciesFromSelf().stream()
                        .filter(link -> link.getTargetClass().getPackageName().startsWith(C))
                        .filter(link -> !samePackage(link))
                        .filter(link -> !known.contains(link.getTargetClass().getPackageName()))
                        .map(link -> SimpleConditionEvent.violated(type, link.getDescription()))
                        .forEach(events::add);
            }
        };
    }

    private static boolean samePackage(Dependency link) {
        return link.getTargetClass()
                .getPackageName()
                .equals(link.getOriginClass().getPackageName());
    }
}
