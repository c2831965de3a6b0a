// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cluster's CA is replaced while a driver runs. */
@Timeout(120)
class ChangedCredentialsIT extends ApiOverTls {

    private static final Duration AT_ONCE = Duration.ofSeconds(5);

    @Test
    void theCaOfAServiceAccount() throws Exception {
        Cluster driver = driver(inCluster());
        read(driver);

        server.replaceAuthority();
        server.writeServiceAccount(folder);
        server.closeConnections();

        assertThat(read(driver)).isLessThan(AT_ONCE);
    }

    @Test
    void theCaOfAServiceAccountAfterThatOfTheServer() throws Exception {
        Cluster driver = driver(inCluster());
        read(driver);
        int connections = proxy.connections().size();

        server.replaceAuthority();
        server.closeConnections();
        CompletableFuture<Duration> prepare = CompletableFuture.supplyAsync(() -> read(driver));
        proxy.awaitConnections(connections + 2, PREPARE); // of which one was refused
        server.writeServiceAccount(folder);

        assertThat(prepare.join()).isLessThan(PREPARE);
    }

    @Test
    void theCaInAKubeconfig() throws Exception {
        Path kubeconfig = server.writeKubeconfig(folder.resolve("kubeconfig"), proxy.url());
        Cluster driver = driver(byKubeconfig(kubeconfig));
        read(driver);

        server.replaceAuthority();
        server.writeKubeconfig(kubeconfig, proxy.url());
        server.closeConnections();

        assertThat(read(driver)).isLessThan(AT_ONCE);
    }

    @Test
    void theCaWhileWatchesGoOn() throws Exception {
        Cluster driver = driver(inCluster());
        try (Watch watch = watch(driver)) {
            server.replaceAuthority();
            server.writeServiceAccount(folder);
            assertThat(read(driver)).isLessThan(AT_ONCE);

            changeTheClaim();

            assertThat(nextEvent()).isEqualTo("changed");
            assertThat(watch).isNotNull();
        }
    }
}
