// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static io.dra4j.testkit.ModuleRules.areAtHomeIn;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The tables of the architecture, line by line, as far as the test kit is concerned. */
@AnalyzeClasses(
        packages = "io.dra4j.testkit",
        importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.DoNotIncludeStubs.class})
class ArchitectureTest {

    private static final String T = "io.dra4j.testkit";

    /** About two thirds of what each package held when the number was last set. */
    private static final Map<String, Integer> LEAST_CLASSES =
            Map.of(T + ".apiserver..", 80, T + ".kubelet", 14, T + ".proxy", 12, T + ".protobuf", 8);

    /** Their public types are the kit's API: tests of drivers, and the suite, use them directly. */
    private static final String[] EMBEDDER_FACING = {
        T,
        T + ".apiserver",
        T + ".kubelet",
        T + ".proxy",
        T + ".cdi",
        T + ".driver",
        T + ".cluster",
        T + ".junit",
        T + ".controllers",
        T + ".manifests"
    };

    /** Generated code. */
    static final class DoNotIncludeStubs implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("/testkit/stubs/");
        }
    }

    @ArchTest
    static final ArchTests RULES_OF_ALL_MODULES = ArchTests.in(ModuleRules.class);

    @ArchTest
    static void theRulesSeeTheClasses(JavaClasses classes) {
        ModuleRules.assertImported(classes, LEAST_CLASSES);
    }

    @ArchTest
    static final ArchRule neitherTheSpiNorTheRuntimeIsKnown = noClasses()
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
            areAtHomeIn(List.of(T + ".kubelet.."), "io.grpc..", "io.netty..", "io.dra4j.testkit.stubs..");

    @ArchTest
    static final ArchRule protobufIsAtHomeInKubeletAndProtobuf =
            areAtHomeIn(List.of(T + ".kubelet..", T + ".protobuf.."), "com.google.protobuf..");

    @ArchTest
    static final ArchRule kubernetesMessagesAreAtHomeInProtobuf =
            areAtHomeIn(List.of(T + ".protobuf.."), "io.kubernetes..");

    @ArchTest
    static final ArchRule httpIsAtHomeInApiserverAndProxy =
            areAtHomeIn(List.of(T + ".apiserver..", T + ".proxy..", T + ".http.."), "org.eclipse.jetty..");

    @ArchTest
    static final ArchRule patchesAreAtHomeInApiserver =
            areAtHomeIn(List.of(T + ".apiserver.."), "io.fabric8.zjsonpatch..");

    @ArchTest
    static final ArchRule kubeconfigsAreAtHomeInCluster =
            areAtHomeIn(List.of(T + ".cluster.."), "io.fabric8.kubernetes..");

    @ArchTest
    static final ArchRule publicTypesBehindTheEntryPointsAreUsedFromOtherPackages =
            ModuleRules.publicTypesAreUsedFromOtherPackages(resideInAnyPackage(EMBEDDER_FACING));

    @ArchTest
    static final ArchRule kubeletAndProtobufStandAlone = classes()
            .that()
            .resideInAnyPackage(T + ".kubelet..", T + ".protobuf..", T + ".http..")
            .should(onlyKnowTheirOwnPackageAnd());

    @ArchTest
    static final ArchRule apiserverAndProxyKnowTheWireFormatAlone = classes()
            .that()
            .resideInAnyPackage(T + ".apiserver..", T + ".proxy..")
            .should(onlyKnowTheirOwnPackageAnd("protobuf", "http", "rbac"));

    @ArchTest
    static final ArchRule standardStreamsAreLeftToPrograms = noClasses().should(ACCESS_STANDARD_STREAMS);

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

    private static boolean isGenerated(JavaClass type) {
        return type.getPackageName().startsWith(T + ".stubs.");
    }
}
