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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The store's promises to its writers and watchers. */
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
        void thatChangeNothingAreNone() {
            StoredObject first = write("a", 1);
            Recorder recorder = new Recorder();
            store.watchAfter(slices, first.revision(), recorder);

            StoredObject same = store.write(slices, first.key(), current -> first.copy());

            assertThat(same).isSameAs(first);
            assertThat(recorder.received).isEmpty();
        }

        @Test
        void thatFailLeaveEverythingAsItWas() {
            StoredObject first = write("a", 1);

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
    class Waiting {
        @Test
        void endsWithTheWriteThatWasWaitedFor() throws Exception {
            CompletableFuture<Boolean> waiting = CompletableFuture.supplyAsync(() -> await("late"));

            write("late", 1);

            assertThat(waiting.get()).isTrue();
        }

        @Test
        void endsWithItsTime() throws Exception {
            assertThat(store.await(() -> false, Duration.ofMillis(1))).isFalse();
        }

        private boolean await(String name) {
            try {
                return store.await(() -> store.find(slices, new ObjectKey("", name)) != null, Duration.ofSeconds(10));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
