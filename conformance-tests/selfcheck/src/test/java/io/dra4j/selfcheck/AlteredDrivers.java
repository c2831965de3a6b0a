// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.lang.annotation.Annotation;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** All drivers that differ from the bare one: an annotated class each. */
final class AlteredDrivers {

    private static final List<Class<?>> HOLDERS = List.of(
            RegistrationMutants.class,
            ServerMutants.class,
            ResponseMutants.class,
            PrepareMutants.class,
            ConfigMutants.class,
            ApiMutants.class,
            UnprepareMutants.class,
            CdiMutants.class,
            SliceMutants.class,
            UnpublishedMutants.class,
            InventoryMutants.class,
            StateMutants.class,
            LifecycleMutants.class,
            HealthMutants.class,
            MetricsMutants.class,
            CallVariants.class,
            CdiVariants.class,
            ClaimVariants.class,
            SliceVariants.class,
            SocketVariants.class,
            StateVariants.class);

    private static final Comparator<String> BY_NUMBER = Comparator.comparingInt(
                    (String id) -> Integer.parseInt(id.replaceAll("\\D", "")))
            .thenComparing(Comparator.naturalOrder());

    private AlteredDrivers() {}

    /** The mutants on which the suite is run, by their numbers. */
    static List<Mutant> mutants() {
        return annotations(Mutant.class)
                .filter(mutant -> !violations(mutant.id()).isEmpty())
                .sorted(Comparator.comparing(Mutant::id, BY_NUMBER))
                .toList();
    }

    /** The conforming variants, by their numbers. */
    static List<Variant> variants() {
        return annotations(Variant.class)
                .sorted(Comparator.comparing(Variant::id, BY_NUMBER))
                .toList();
    }

    static Variant variant(String id) {
        return variants().stream()
                .filter(each -> each.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    /** A requirement that does not pass with a driver, and a part of the message. */
    record Expected(String requirement, String message) {}

    /** The violations of a mutant or a variant. */
    static List<Expected> violations(String id) {
        return Stream.of(type(id).getAnnotationsByType(Violation.class))
                .map(violation -> violation.value().split(": ", 2))
                .map(parts -> new Expected(parts[0], parts[1]))
                .toList();
    }

    /** The parts of the mutant and of the variant that the options name. */
    static Parts parts(Settings settings) {
        return new Parts(
                settings,
                Stream.of(settings.text("--fault", ""), settings.text("--variant", ""))
                        .filter(id -> !id.isEmpty())
                        .flatMap(AlteredDrivers::replacements)
                        .toList());
    }

    private static Stream<Class<?>> replacements(String id) {
        Class<?> type = type(id);
        Mutant mutant = type.getAnnotation(Mutant.class);
        Class<?>[] more = mutant == null ? type.getAnnotation(Variant.class).with() : mutant.with();
        return Stream.concat(Stream.of(type), Stream.of(more));
    }

    private static Class<?> type(String id) {
        return types().filter(type -> id(type).equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No mutant and no variant is " + id));
    }

    private static String id(Class<?> type) {
        Mutant mutant = type.getAnnotation(Mutant.class);
        Variant variant = type.getAnnotation(Variant.class);
        return mutant != null ? mutant.id() : variant != null ? variant.id() : "";
    }

    private static <A extends Annotation> Stream<A> annotations(Class<A> kind) {
        return types().flatMap(type -> Stream.ofNullable(type.getAnnotation(kind)));
    }

    private static Stream<Class<?>> types() {
        return HOLDERS.stream().flatMap(holder -> Stream.of(holder.getDeclaredClasses()));
    }
}
