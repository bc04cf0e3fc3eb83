\echo Use "CREATE EXTENSION sluice" to load this file. \quit

