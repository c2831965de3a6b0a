// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.PackageMatcher;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** A row of the table of modules; the file says what its names mean. */
record Module(
        Set<String> ships,
        Set<String> tests,
        String top,
        boolean cycles,
        Set<String> knows,
        Map<String, Set<String>> homes,
        Map<String, Set<String>> leaves,
        @JsonProperty("public") Set<String> entryPoints) {

    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** By the folder. */
    static final Map<String, Module> ALL = read();

    private static Map<String, Module> read() {
        YAMLMapper mapper = new YAMLMapper();
        mapper.setDefaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY));
        try (InputStream file = Module.class.getResourceAsStream("modules.yaml")) {
            return mapper.readValue(file, new TypeReference<>() {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The classes that were built from a folder's sources, without generated ones. */
    static JavaClasses classesOf(String folder) {
        String home = "/" + ALL.get(folder).top().replace('.', '/') + "/";
        return new ClassFileImporter()
                .withImportOption(location -> location.contains(home) && !location.contains(home + "stubs/"))
                .importPath(ROOT.resolve(folder).resolve("target/classes"));
    }

    /** The rules of the row, after those of every module. */
    Stream<ArchRule> rules() {
        Stream<ArchRule> ofAll = Stream.of(
                slices().matching("(io.dra4j..)").should().beFreeOfCycles(),
                classes().should(be(describe("in null-marked packages", Module::isNullMarked))),
                noClasses().that(are(not(programs()))).should().dependOnClassesThat(resideInAPackage("picocli..")),
                noClasses().that(are(not(programs()))).should(ACCESS_STANDARD_STREAMS),
                NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING);
        Stream<ArchRule> ofCycles = cycles
                ? Stream.of()
                : Stream.of(
                        slices().assignedFrom(new TopLevelClasses()).should().beFreeOfCycles());
        Stream<ArchRule> ofHomes = homes.entrySet().stream()
                .map(home -> noClasses()
                        .that(are(not(in(home.getValue()).or(in(Set.of(home.getKey()))))))
                        .should()
                        .dependOnClassesThat(in(Set.of(home.getKey()))));
        Stream<ArchRule> ofLeaves = leaves.entrySet().stream()
                .map(leaf -> noClasses()
                        .that(are(in(Set.of(leaf.getKey()))))
                        .should()
                        .dependOnClassesThat(resideInAPackage("io.dra4j..")
                                .and(not(in(leaf.getValue()).or(in(Set.of(leaf.getKey())))))));
        Stream<ArchRule> ofKnown =
                knows.isEmpty() ? Stream.of() : Stream.of(classes().should().onlyDependOnClassesThat(in(knows)));
        Stream<ArchRule> ofPublic = entryPoints.isEmpty()
                ? Stream.of()
                : Stream.of(classes()
                        .that()
                        .areTopLevelClasses()
                        .and(are(not(in(entryPoints))))
                        .should(be(describe("package-private or used elsewhere", Module::isPrivateOrUsed))));
        return Stream.of(ofAll, ofCycles, ofHomes, ofLeaves, ofKnown, ofPublic).flatMap(rules -> rules);
    }

    /** The row's names in the module's packages: a rule for a name without a class would check nothing. */
    Stream<String> ownNames() {
        return Stream.of(
                        homes.keySet().stream(),
                        homes.values().stream().flatMap(Set::stream),
                        leaves.keySet().stream(),
                        entryPoints.stream())
                .flatMap(names -> names)
                .filter(name -> name.startsWith("."))
                .distinct();
    }

    /** Classes in any of the packages, or nested in any of the classes, or these. */
    DescribedPredicate<JavaClass> in(Collection<String> names) {
        return describe(
                "in " + names,
                type -> names.stream()
                        .map(name -> name.equals(".") ? top : name.startsWith(".") ? top + name : name)
                        .anyMatch(name -> PackageMatcher.of(name).matches(type.getPackageName())
                                || topLevel(type).equals(name)));
    }

    private static DescribedPredicate<JavaClass> programs() {
        return describe("*Main or *Options", type -> topLevel(type).matches(".*(Main|Options)"));
    }

    private static boolean isNullMarked(JavaClass type) {
        return type.getPackage().isAnnotatedWith(NullMarked.class);
    }

    private static boolean isPrivateOrUsed(JavaClass type) {
        return !type.getModifiers().contains(JavaModifier.PUBLIC)
                || type.getDirectDependenciesToSelf().stream()
                        .anyMatch(use -> !use.getOriginClass().getPackage().equals(type.getPackage()));
    }

    private static String topLevel(JavaClass type) {
        return type.getName().split("\\$")[0];
    }

    /** One slice for each top-level class, nested classes included. */
    private static final class TopLevelClasses implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return SliceIdentifier.of(topLevel(type));
        }

        @Override
        public String getDescription() {
            return "top-level classes";
        }
    }
}
