// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Kubernetes' protobuf: conversion of objects between wire format and JSON, by message descriptors.
 *
 * <p>Flow: bytes of a request or a response → envelope → message → JSON tree, and back.
 */
@NullMarked
package io.dra4j.testkit.protobuf;

import org.jspecify.annotations.NullMarked;
