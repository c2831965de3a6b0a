// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.requirements.Requirement;

/** Receives the progress of a run, from several threads. */
public interface Progress {

    Progress NONE = new Progress() {};

    /** The API server runs; called first. */
    default void started(KubernetesServer kubernetes) {}

    /** A requirement is about to be checked. */
    default void begun(Requirement requirement, String variant) {}

    /** A requirement has a result. */
    default void ended(Result result) {}
}
