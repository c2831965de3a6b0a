// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dra4j.rules.KubernetesVersion;
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

    @Nested
    class Watches {
        @Test
        void fromNowReceiveWhatIsThereThenChanges() {
            write("a", 1);
            Recorder recorder = new Recorder();

            store.watchFromNow(slices, recorder);
            write("a", 2);
            delete("a");

            assertThat(recorder.received).containsExactly("2 there", "2 synced", "3 there", "flush", "4 gone", "flush");
        }

        @Test
        void afterARevisionReceiveWhatTheyMissed() {
            long from = write("a", 1).revision();
            write("b", 1);
            delete("a");
            Recorder recorder = new Recorder();

            store.watchAfter(slices, from, recorder);

            assertThat(recorder.received).containsExactly("3 there", "4 gone");
        }

        @Test
        void thatComeTooLateAreRejected() {
            long from = write("a", 1).revision();
            for (int i = 2; i < 6; i++) {
                write("a", i);
            }

            Recorder late = new Recorder();
            assertThat(refusal(from, late)).isEqualTo("410 Expired");
            write("a", 6);
            assertThat(late.received).isEmpty();
        }

        @Test
        void ofAnotherLifeAreRejected() {
            assertThat(refusal(99, new Recorder())).isEqualTo("504 Timeout");
            assertThat(refusal(-1, new Recorder())).isEqualTo("504 Timeout"); // 2^64 - 1
        }

        private String refusal(long from, Recorder recorder) {
            ApiFailure failure = catchThrowableOfType(ApiFailure.class, () -> store.watchAfter(slices, from, recorder));
            return failure.code() + " " + failure.reason();
        }

        @Test
        void hearNothingOfOtherKindsNorAfterTheirEnd() {
            Recorder recorder = new Recorder();
            store.watchFromNow(nodes, recorder);
            recorder.received.clear();

            write("a", 1);
            store.unwatch(nodes, recorder);
            store.write(nodes, new ObjectKey("", "n"), current -> tree("{'metadata':{}}"));

            assertThat(recorder.received).isEmpty();
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
