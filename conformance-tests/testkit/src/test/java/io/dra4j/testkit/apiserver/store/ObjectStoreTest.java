// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.Scenarios;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The store's promises to its writers and watchers, and what its selectors match. */
class ObjectStoreTest {

    private final ResourceKinds kinds = new ResourceKinds(KubernetesVersion.V1_36);
    private final ResourceKind slices = kinds.named("resourceslices");
    private final ResourceKind nodes = kinds.named("nodes");
    private final ObjectStore store = new ObjectStore(3);

    /** Records its notifications. */
    private static final class Recorder implements Watcher {
        private final List<String> received = new ArrayList<>();

        @Override
        public void changed(CommittedWrite change) {
            received.add(change.revision() + (change.after() == null ? " gone" : " there"));
        }

        @Override
        public void synced(long revision) {
            received.add(revision + " synced");
        }

        @Override
        public void bookmark(long revision) {
            received.add(revision + " bookmark");
        }

        @Override
        public void flush() {
            received.add("flush");
        }
    }

    private StoredObject write(String name, int content) {
        return store.write(slices, new ObjectKey("", name), current -> tree("{'metadata':{},'spec':" + content + "}"));
    }

    private void delete(String name) {
        store.write(slices, new ObjectKey("", name), current -> null);
    }

    @Nested
    class Writes {
        @Test
        void moveTheRevisionAndStampIt() {
            StoredObject first = write("a", 1);
            StoredObject second = write("a", 2);

            assertThat(second.revision()).isEqualTo(first.revision() + 1);
            assertThat(JsonTrees.text(second.json(), "metadata", "resourceVersion"))
                    .isEqualTo(Long.toString(second.revision()));
        }

        @Test
        void thatChangeNothingOrFailAreNone() {
            StoredObject first = write("a", 1);
            Recorder recorder = new Recorder();
            store.watchAfter(slices, first.revision(), recorder);

            StoredObject same = store.write(slices, first.key(), current -> first.copy());

            assertThat(same).isSameAs(first);
            assertThat(recorder.received).isEmpty();

            ObjectStore.Mutation failing = current -> {
                throw ApiFailure.badRequest("no");
            };
            assertThatThrownBy(() -> store.write(slices, first.key(), failing)).isInstanceOf(ApiFailure.class);

            assertThat(store.find(slices, first.key())).isSameAs(first);
        }
    }

    private static long revision(String word, long noted) {
        return word.equals("noted") ? noted : Long.parseLong(word);
    }

    @Scenarios("watch-scenarios.txt")
    void watchesReceiveChanges(String scenario) {
        Recorder recorder = new Recorder();
        long noted = 0;
        for (String line : scenario.split("\n")) {
            String[] words = line.split(" ", 3);
            switch (words[0]) {
                case "#" -> {} // its title
                case "write" -> write(words[1], Integer.parseInt(words[2]));
                case "write-node" ->
                    store.write(nodes, new ObjectKey("", words[1]), current -> tree("{'metadata':{}}"));
                case "delete" -> delete(words[1]);
                case "note" -> noted = store.revision();
                case "watch" -> store.watchFromNow(kinds.named(words[1]), recorder);
                case "after" -> store.watchAfter(slices, revision(words[1], noted), recorder);
                case "refused" -> {
                    long from = revision(words[1], noted);
                    ApiFailure failure =
                            catchThrowableOfType(ApiFailure.class, () -> store.watchAfter(slices, from, recorder));
                    assertThat(failure.code() + " " + failure.reason()).isEqualTo(words[2]);
                }
                case "unwatch" -> store.unwatch(kinds.named(words[1]), recorder);
                case "forget" -> recorder.received.clear();
                case "received" ->
                    assertThat(String.join(", ", recorder.received))
                            .isEqualTo(line.substring(8).strip());
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    @Nested
    class Selectors {

        private final StoredObject slice = new StoredObject(
                slices,
                new ObjectKey("", "s1"),
                7,
                tree("{'metadata':{'name':'s1','labels':{'app':'a','tier':'x'}},"
                        + "'spec':{'driver':'gpu.example.com','nodeName':'node-1','pool':{'name':'a'}}}"));

        @Nested
        class ByField {
            @ParameterizedTest
            @CsvFileSource(
                    files = "src/test/resources/io/dra4j/testkit/apiserver/store/field-selectors.csv",
                    delimiter = '|',
                    quoteCharacter = '\'')
            void matchesOrNot(String selector, boolean matches) {
                assertThat(FieldSelector.parse(slices, selector).matches(slice)).isEqualTo(matches);
            }

            @ParameterizedTest
            @ValueSource(strings = {"spec.pool.name=a", "metadata.namespace=a", "spec.nodeName"})
            void isRefused(String selector) {
                assertThatThrownBy(() -> FieldSelector.parse(slices, selector))
                        .isInstanceOfSatisfying(
                                ApiFailure.class,
                                failure -> assertThat(failure.code()).isEqualTo(400));
            }

            @Test
            void knowsPoolsFrom137() {
                ResourceKind newer = new ResourceKinds(KubernetesVersion.V1_37).named("resourceslices");

                assertThat(FieldSelector.parse(newer, "spec.pool.name=a").matches(slice))
                        .isTrue();
                assertThat(FieldSelector.parse(newer, "spec.pool.name=b").matches(slice))
                        .isFalse();
            }
        }

        @Nested
        class ByLabel {
            @ParameterizedTest
            @CsvFileSource(
                    files = "src/test/resources/io/dra4j/testkit/apiserver/store/label-selectors.csv",
                    delimiter = '|',
                    quoteCharacter = '\'')
            void matchesOrNot(String selector, boolean matches) {
                assertThat(LabelSelector.parse(selector).matches(slice)).isEqualTo(matches);
            }

            @Test
            void isRefused() {
                assertThatThrownBy(() -> LabelSelector.parse("app in a")).isInstanceOf(ApiFailure.class);
            }
        }
    }
}
