// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.Trees;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceList;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fabric8 client against the server, with and without its first try by web socket. */
@Timeout(60)
class Fabric8IT {
    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder().start();

    private KubernetesClient client(boolean onlyHttpWatches) {
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(server.url().toString())
                .withNamespace("default")
                .withOnlyHttpWatches(onlyHttpWatches)
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    private static NonNamespaceOperation<ResourceSlice, ResourceSliceList, Resource<ResourceSlice>> slices(
            KubernetesClient client) {
        return client.resources(ResourceSlice.class, ResourceSliceList.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void watchesWhatOthersDo(boolean onlyHttpWatches) throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        Watcher<ResourceSlice> watcher = new Watcher<>() {
            @Override
            public void eventReceived(Action action, ResourceSlice slice) {
                seen.add(action + " " + slice.getMetadata().getName());
            }

            @Override
            public void onClose(WatcherException cause) {
                seen.add("closed by " + cause);
            }
        };
        server.store().put(Trees.tree(slice("s1", 1)));
        try (KubernetesClient client = client(onlyHttpWatches);
                Watch watch =
                        slices(client).withField("spec.nodeName", "node-1").watch(watcher)) {
            assertThat(watch).isNotNull();
            assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("ADDED s1");

            server.store().put(Trees.tree(slice("s1", 2)));
            server.store().delete("resourceslices", "", "s1");

            assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("MODIFIED s1");
            assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("DELETED s1");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void informsOfWhatIsThereAndWhatComes(boolean onlyHttpWatches) throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        server.store().put(Trees.tree(slice("s1", 1)));
        try (KubernetesClient client = client(onlyHttpWatches);
                var informer = slices(client).inform(added(seen))) {
            assertThat(informer.hasSynced()).isTrue();
            assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("s1");

            server.store().put(Trees.tree(slice("s2", 1)));

            assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("s2");
        }
    }

    private static ResourceEventHandler<ResourceSlice> added(BlockingQueue<String> seen) {
        return new ResourceEventHandler<>() {
            @Override
            public void onAdd(ResourceSlice slice) {
                seen.add(slice.getMetadata().getName());
            }

            @Override
            public void onUpdate(ResourceSlice old, ResourceSlice slice) {
                seen.add("updated");
            }

            @Override
            public void onDelete(ResourceSlice slice, boolean unknown) {
                seen.add("deleted");
            }
        };
    }
}
