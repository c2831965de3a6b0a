// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;

/** All drivers that differ from the bare one, by annotated classes or by answers in the files. */
final class AlteredDrivers {

    private static final List<Class<?>> HOLDERS = List.of(
            RegistrationMutants.class,
            ResponseMutants.class,
            PrepareMutants.class,
            ApiMutants.class,
            SliceMutants.class,
            StateMutants.class,
            LifecycleMutants.class,
            ClaimVariants.class,
            SliceVariants.class,
            StateVariants.class);

    private static final Comparator<String> BY_NUMBER = Comparator.comparingInt(
                    (String id) -> Integer.parseInt(id.replaceAll("\\D", "")))
            .thenComparing(Comparator.naturalOrder());

    private static final Map<String, List<Class<?>>> REPLACEMENTS = new ConcurrentHashMap<>();

    private AlteredDrivers() {}

    private static <T> List<T> read(String file, Class<T> type, Function<T, String> id) {
        YAMLMapper yaml = YAMLMapper.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build();
        yaml.configOverride(List.class).setSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY));
        try (InputStream stream = AlteredDrivers.class.getResourceAsStream(file)) {
            List<T> all = yaml.readerForListOf(type).readValue(stream);
            return all.stream().sorted(Comparator.comparing(id, BY_NUMBER)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The mutants on which the suite is run, by their numbers. */
    static List<Mutant> mutants() {
        return all().stream().filter(mutant -> !mutant.violations().isEmpty()).toList();
    }

    /** Those, too, that have a test of their own. */
    private static List<Mutant> all() {
        return read("mutants.yaml", Mutant.class, Mutant::id);
    }

    /** The conforming variants, by their numbers. */
    static List<Variant> variants() {
        return read("variants.yaml", Variant.class, Variant::id);
    }

    static Variant variant(String id) {
        return variants().stream()
                .filter(each -> each.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    /** A requirement that does not pass with a driver, and a part of the message. */
    record Expected(String requirement, String message) {}

    /** The violations of a mutant or a variant, as requirements and messages. */
    static List<Expected> expected(List<String> violations) {
        return violations.stream()
                .map(violation -> violation.split(": ", 2))
                .map(parts -> new Expected(parts[0], parts[1]))
                .toList();
    }

    /** The answers of the drivers in the two files, by their ids. */
    static Map<String, Map<String, JsonNode>> answers() {
        Map<String, Map<String, JsonNode>> answers = new LinkedHashMap<>();
        all().forEach(mutant -> answers.put(mutant.id(), mutant.answers()));
        variants().forEach(variant -> answers.put(variant.id(), variant.answers()));
        return answers;
    }

    /** The ids of the classes. */
    static Stream<String> idsOfClasses() {
        return types().flatMap(AlteredDrivers::ids);
    }

    /** The parts of the mutant and of the variant that the options name. */
    static Parts parts(Settings settings) {
        return new Parts(
                settings,
                Stream.of(settings.text("--fault", ""), settings.text("--variant", ""))
                        .filter(id -> !id.isEmpty())
                        .flatMap(id -> REPLACEMENTS.computeIfAbsent(id, AlteredDrivers::replacements).stream())
                        .toList());
    }

    private static List<Class<?>> replacements(String id) {
        Map<String, JsonNode> answers = answers().get(id);
        if (answers == null) {
            throw new IllegalArgumentException("No mutant and no variant is " + id);
        }
        Stream<Class<?>> own = types().filter(type -> ids(type).anyMatch(id::equals))
                .flatMap(type -> Stream.concat(
                        Stream.of(type),
                        Stream.of(type.getAnnotation(Altered.class).with())));
        return Stream.concat(own, Answers.parts(answers).stream()).toList();
    }

    private static Stream<String> ids(Class<?> type) {
        return Stream.ofNullable(type.getAnnotation(Altered.class))
                .map(Altered::id)
                .flatMap(Stream::of);
    }

    private static Stream<Class<?>> types() {
        return HOLDERS.stream().flatMap(holder -> Stream.of(holder.getDeclaredClasses()));
    }
}
