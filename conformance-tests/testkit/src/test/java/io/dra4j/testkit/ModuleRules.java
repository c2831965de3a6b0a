// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullMarked;

/** The rules that hold in each module, and those that a module adds its own names to. */
public final class ModuleRules {

    private ModuleRules() {}

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("(io.dra4j..)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule topLevelClassesHaveNoCycles =
            slices().assignedFrom(new TopLevelClasses()).should().beFreeOfCycles();

    @ArchTest
    static void packagesAreNullMarked(JavaClasses classes) {
        assertThat(classes.stream().map(JavaClass::getPackage).distinct())
                .filteredOn(found -> !found.isAnnotatedWith(NullMarked.class))
                .extracting(JavaPackage::getName)
                .isEmpty();
    }

    @ArchTest
    static final ArchRule picocliIsAtHomeInMainsAndOptions = noClasses()
            .that(are(not(programs())))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("picocli..");

    @ArchTest
    static final ArchRule onlyProgramsUseTheStandardStreams =
            noClasses().that(are(not(programs()))).should(ACCESS_STANDARD_STREAMS);

    @ArchTest
    static final ArchRule noClassUsesTheJdksLogging = NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;

    /** Types are package-private, or used from another package, or entry points of the module. */
    public static ArchRule publicTypesAreUsedFromOtherPackages(DescribedPredicate<JavaClass> entryPoints) {
        return classes()
                .that()
                .areTopLevelClasses()
                .and(are(not(entryPoints)))
                .should(ArchCondition.from(describe(
                        "be package-private or used from another package",
                        type -> !isPublic(type) || isUsedElsewhere(type))));
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC);
    }

    private static boolean isUsedElsewhere(JavaClass type) {
        return type.getDirectDependenciesToSelf().stream()
                .anyMatch(use -> !use.getOriginClass().getPackage().equals(type.getPackage()));
    }

    /** Libraries are used in their home alone. */
    public static ArchRule areAtHomeIn(List<String> homes, String... libraries) {
        return noClasses()
                .that()
                .resideOutsideOfPackages(homes.toArray(new String[0]))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(libraries);
    }

    /**
     * The rules import the classes: at least so many of each package, and of its subpackages if its
     * name ends in "..".
     */
    public static void assertImported(JavaClasses classes, Map<String, Integer> least) {
        assertThat(least)
                .allSatisfy((name, number) -> assertThat(classes.that(JavaClass.Predicates.resideInAPackage(name)))
                        .as(name)
                        .hasSizeGreaterThanOrEqualTo(number));
    }

    private static DescribedPredicate<JavaClass> programs() {
        return describe("*Main or *Options", type -> type.getName().matches(".*(Main|Options)(\\$.*)?"));
    }

    /** One slice for each top-level class, nested classes included. */
    private static final class TopLevelClasses implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return SliceIdentifier.of(type.getName().split("\\$")[0]);
        }

        @Override
        public String getDescription() {
            return "top-level classes";
        }
    }
}
