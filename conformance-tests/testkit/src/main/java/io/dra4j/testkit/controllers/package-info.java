// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Handles pods with claims as the controllers, the scheduler and the kubelets of a cluster do.
 *
 * <p>Flow: a pod in the embedded API server → its claims → a node where they fit → the kubelet of
 * that node, which prepares them; in reverse when the pod is gone.
 */
@NullMarked
package io.dra4j.testkit.controllers;

import org.jspecify.annotations.NullMarked;
