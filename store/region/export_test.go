package region

// MapData is mapData.
var MapData = mapData
