// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** The tables of the architecture, line by line, as far as the test kit is concerned. */
@AnalyzeClasses(
        packages = "io.dra4j.testkit",
        importOptions = {
            ImportOption.DoNotIncludeTests.class,
            ArchitectureTest.DoNotIncludeStubs.class
        })
class ArchitectureTest {

    private static final String T = "io.dra4j.testkit";

    /** About two thirds of what each package held when the number was last set. */
    private static final Map<String, Integer> LEAST_CLASSES =
            Map.of(T + ".apiserver", 80, T + ".kubelet", 14, T + ".proxy", 12, T + ".protobuf", 8);

    /** Their public types are the kit's API: tests of drivers, and the suite, use them directly. */
    private static final String[] EMBEDDER_FACING = {
        T,
        T + ".apiserver",
        T + ".kubelet",
        T + ".proxy",
        T + ".cdi",
        T + ".driver",
        T + ".cluster",
        T + ".junit"
    };

    /** Generated code. */
    static final class DoNotIncludeStubs implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("/testkit/stubs/");
        }
    }

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        assertThat(LEAST_CLASSES)
                .allSatisfy(
                        (name, least) ->
                                assertThat(classes.getPackage(name).getClassesInPackageTree())
                                        .as(name)
                                        .hasSizeGreaterThanOrEqualTo(least));
    }

    @ArchTest
    static final ArchRule neitherTheSpiNorTheRuntimeIsKnown =
            noClasses()
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "io.dra4j.runtime..",
                            "io.dra4j.api..",
                            "io.dra4j.kubelet..",
                            "io.dra4j.example..",
                            "io.dra4j.conformance..")
                    .because("drivers in any language are tested, and the runtime with this");

    @ArchTest
    static final ArchRule grpcIsAtHomeInKubelet =
            library(T + ".kubelet..", "io.grpc..", "io.netty..", "io.dra4j.testkit.stubs..");

    @ArchTest
    static final ArchRule protobufIsAtHomeInKubeletAndProtobuf =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(T + ".kubelet..", T + ".protobuf..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("com.google.protobuf..");

    @ArchTest
    static final ArchRule kubernetesMessagesAreAtHomeInProtobuf =
            library(T + ".protobuf..", "io.kubernetes..");

    @ArchTest
    static final ArchRule httpIsAtHomeInApiserverAndProxy =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(T + ".apiserver..", T + ".proxy..", T + ".http..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("org.eclipse.jetty..");

    @ArchTest
    static final ArchRule patchesAreAtHomeInApiserver =
            library(T + ".apiserver..", "io.fabric8.zjsonpatch..");

    @ArchTest
    static final ArchRule kubeconfigsAreAtHomeInCluster =
            library(T + ".cluster..", "io.fabric8.kubernetes..");

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching(T + ".(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule topLevelClassesHaveNoCycles =
            slices().assignedFrom(new TopLevelClasses()).should().beFreeOfCycles();

    @ArchTest
    static final ArchRule publicTypesBehindTheEntryPointsAreUsedFromOtherPackages =
            classes()
                    .that()
                    .arePublic()
                    .and()
                    .areTopLevelClasses()
                    .and()
                    .resideOutsideOfPackages(EMBEDDER_FACING)
                    .and()
                    .doNotHaveFullyQualifiedName(T + ".apiserver.validation.Quantities")
                    .should(beUsedFromAnotherPackage())
                    .because("the suite compares Quantities, too; nothing else is for embedders");

    @ArchTest
    static final ArchRule kubeletAndProtobufStandAlone =
            classes()
                    .that()
                    .resideInAnyPackage(T + ".kubelet..", T + ".protobuf..", T + ".http..")
                    .should(onlyKnowTheirOwnPackageAnd());

    @ArchTest
    static final ArchRule apiserverAndProxyKnowTheWireFormatAlone =
            classes()
                    .that()
                    .resideInAnyPackage(T + ".apiserver..", T + ".proxy..")
                    .should(onlyKnowTheirOwnPackageAnd("protobuf", "http", "rbac"));

    @ArchTest
    static void packagesAreNullMarkedAndDescribed(JavaClasses classes) {
        JavaPackage top = classes.getPackage(T);
        assertThat(Stream.concat(Stream.of(top), top.getSubpackagesInTree().stream()))
                .filteredOn(found -> !found.getClasses().isEmpty())
                .filteredOn(found -> !found.getName().startsWith(T + ".stubs."))
                .filteredOn(found -> !found.isAnnotatedWith(NullMarked.class))
                .extracting(JavaPackage::getName)
                .isEmpty();
    }

    @ArchTest
    static final ArchRule noClassUsesTheJdksLogging = NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;

    @ArchTest
    static final ArchRule standardStreamsAreLeftToPrograms =
            noClasses().should(ACCESS_STANDARD_STREAMS);

    private static ArchRule library(String home, String... libraries) {
        return noClasses()
                .that()
                .resideOutsideOfPackage(home)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(libraries);
    }

    private static ArchCondition<JavaClass> onlyKnowTheirOwnPackageAnd(String... others) {
        Set<String> known = Set.of(others);
        return new ArchCondition<>("know no other package of the test kit but " + known) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                type.getDirectDependenciesFromSelf().stream()
                        .filter(link -> link.getTargetClass().getPackageName().startsWith(T))
                        .filter(link -> !isGenerated(link.getTargetClass()))
                        .filter(link -> !part(link.getTargetClass()).equals(part(type)))
                        .filter(link -> !known.contains(part(link.getTargetClass())))
                        .map(link -> SimpleConditionEvent.violated(type, link.getDescription()))
                        .forEach(events::add);
            }
        };
    }

    /** The first package below the kit's. */
    private static String part(JavaClass type) {
        String name = type.getPackageName();
        return name.equals(T) ? "" : name.substring(T.length() + 1).split("\\.")[0];
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

    private static boolean isGenerated(JavaClass type) {
        return type.getPackageName().startsWith(T + ".stubs.");
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
